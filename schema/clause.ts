/** Citations, so that an author finds the reason. Source: TASK-PLUGIN-001 §11.4. */

/** `advice, per TASK-PLUGIN-001 §1 clause N`. */
export function per(clause: number, advice: string): string {
  return `${advice}, per TASK-PLUGIN-001 §1 clause ${clause}`;
}
