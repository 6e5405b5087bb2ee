import assert from "node:assert/strict";
import { BridgeError } from "../errors.ts";
import {
  isConnectionFault,
  isNotMigrated,
  translateSqlError,
} from "./sql_error.ts";

const thrown = (code: string): Error =>
  Object.assign(new Error("secret text"), { code });

Deno.test("translateSqlError() makes a store that is away STORE_UNAVAILABLE", () => {
  for (
    const code of [
      "ECONNREFUSED",
      "ENOTFOUND",
      "EPIPE",
      "CONNECT_TIMEOUT",
      "CONNECTION_CLOSED",
      "STATEMENT_TIMEOUT",
      "DEPTH_ZERO_SELF_SIGNED_CERT",
      "08006",
      "57P01",
      "57P03",
      "53300",
      "55P03",
      "40001",
      "25006",
      "28P01",
      "3D000",
    ]
  ) {
    const error = translateSqlError(thrown(code));
    assert.ok(error instanceof BridgeError, code);
    assert.equal(error.code, "STORE_UNAVAILABLE");
    assert.doesNotMatch(error.message + error.hint, /secret/);
  }
});

Deno.test("translateSqlError() leaves a refusal by SQL, and a bug, as they are", () => {
  for (const error of [thrown("23505"), thrown("22P02"), new TypeError("x")]) {
    assert.equal(translateSqlError(error), error);
    assert.equal(isConnectionFault(error), false);
  }
});

Deno.test("translateSqlError() says what only the operator can mend", () => {
  const hint = (code: string): string =>
    (translateSqlError(thrown(code)) as BridgeError).hint;
  assert.match(hint("DEPTH_ZERO_SELF_SIGNED_CERT"), /certificate/);
  assert.match(hint("28P01"), /login/);
  assert.match(hint("3D000"), /database in the database URL/);
  assert.doesNotMatch(hint("ECONNRESET"), /operator/);
});

Deno.test("isNotMigrated() knows a schema, function or right that is not there", () => {
  for (const code of ["3F000", "42P01", "42883", "42501"]) {
    assert.equal(isNotMigrated(thrown(code)), true);
  }
  assert.equal(isNotMigrated(thrown("23505")), false);
});
