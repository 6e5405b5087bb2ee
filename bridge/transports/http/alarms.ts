/** Time limits that hardly ever run out, without a timer for each. */

/** Calls back once after about this long, unless it is stopped first. */
export type SetAlarm = (ms: number, onLate: () => void) => () => void;

/** Alarms that ring when somebody looks at the clock. */
export interface Alarms {
  readonly set: SetAlarm;
  /** Rings those whose time is over. */
  ring(): void;
}

interface Alarm {
  readonly atMs: number;
  readonly onLate: () => void;
}

/** An alarm with a timer of its own, for servers that look at no clock. */
export const timerAlarm: SetAlarm = (ms, onLate) => {
  const timer = setTimeout(onLate, ms);
  return () => clearTimeout(timer);
};

/** Creates a set of alarms. */
export function createAlarms(): Alarms {
  const alarms = new Set<Alarm>();
  return {
    set(ms, onLate) {
      const alarm = { atMs: performance.now() + ms, onLate };
      alarms.add(alarm);
      return () => alarms.delete(alarm);
    },
    ring() {
      const now = performance.now();
      for (const alarm of alarms) {
        if (alarm.atMs > now) continue;
        alarms.delete(alarm);
        alarm.onLate();
      }
    },
  };
}
