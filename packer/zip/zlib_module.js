// The compressor's module itself, not a copy of its exports: `import source` is how
// WebAssembly can be reached from a module that is imported on first use.
// @ts-self-types="./zlib_module.d.ts"
import source zlibModule from "@zip.js/zip.js/dist/zip-module.wasm";

export { zlibModule };
