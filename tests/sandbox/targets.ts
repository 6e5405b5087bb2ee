/** What the escapes aim at, made by the test and told to the sandboxed side. */
export interface Targets {
  /** `http://localhost:PORT`, which the configuration names: the memory service. */
  readonly allowedOrigin: string;
  /** `http://127.0.0.1:PORT` of another server, which nobody named. */
  readonly otherOrigin: string;
  /** CUO's program, which the configuration names. */
  readonly allowedProgram: string;
  readonly otherProgram: string;
  /** The folder that the sandbox may read and write. */
  readonly dataDir: string;
  /** A file of somebody else, which holds {@link SECRET}. */
  readonly secretFile: string;
  readonly unixSocket: string;
  /** A process of the same user. */
  readonly otherPid: number;
}

/** In the other file, and in the environment variable {@link SECRET_NAME}. */
export const SECRET = "the-secret-of-somebody-else";

/** A variable that the bridge has no business with. */
export const SECRET_NAME = "DEPLOY_KEY_OF_SOMEBODY";
