/** zlib as zip.js ships it, compiled to WebAssembly. */
export const zlibModule: WebAssembly.Module;
