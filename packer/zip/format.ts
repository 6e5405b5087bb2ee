/**
 * The one form that an entry of our archives takes. Everything in it follows
 * from path, mode and content, so that two packers agree to the byte.
 *
 * Source: PKWARE APPNOTE §4.3; the values are those that Python's `zipfile` writes
 * at level 6 for a date of 1980-01-01.
 */

/** Signature of a local file header. */
export const LOCAL_SIGNATURE = 0x04034b50;
/** Signature of a central directory header. */
export const CENTRAL_SIGNATURE = 0x02014b50;
/** Signature of the end of central directory record. */
export const END_SIGNATURE = 0x06054b50;

/** Bytes of a local file header without its name. */
export const LOCAL_BYTES = 30;
/** Bytes of a central directory header without its name. */
export const CENTRAL_BYTES = 46;
/** Bytes of the end record without a comment. */
export const END_BYTES = 22;

/** Time 00:00:00 of date 1980-01-01, as the two DOS fields in one number. */
export const DOS_EPOCH = 0x00210000;
/** Unix, version 2.0. */
export const VERSION_MADE_BY = 0x0314;
/** 2.0: deflate. */
export const VERSION_NEEDED = 20;
/** Deflate. */
export const METHOD_DEFLATE = 8;
/** General purpose bit 11: the name is UTF-8. Set when, and only when, it is not ASCII. */
export const FLAG_UTF8 = 0x0800;
/** General purpose bits 0, 6 and 13: encryption in its three forms. */
export const FLAGS_ENCRYPTED = 0x2041;

/** The Unix mode field of a regular file. */
export const MODE_FILE = 0o100644;
/** The Unix mode field of a program. */
export const MODE_PROGRAM = 0o100755;
