import assert from "node:assert/strict";
import { fileKind, svgFault } from "./file_kinds.ts";

const bytes = (text: string) =>
  Uint8Array.from(text, (char) => char.charCodeAt(0));

Deno.test("fileKind() tells programs by name and by their first bytes", () => {
  for (
    const [path, head] of [
      ["a.sh", "echo"],
      ["a.SH", "echo"],
      ["scripts/run.py", "import os"],
      ["a.js", ""],
      ["a.html", "<html>"],
      ["a.txt", "#!/bin/sh\n"],
      ["a.md", "\x7fELF"],
      ["a.png", "MZ"],
      ["a.json", "PK\x03\x04"],
      ["a", "\xcf\xfa\xed\xfe"],
      ["a.csv", "\0asm"],
    ] as const
  ) assert.equal(fileKind(path, bytes(head)), "program", path);
});

Deno.test("fileKind() knows texts and pictures, and nothing else", () => {
  for (
    const [path, head, kind] of [
      ["a.md", "# Title", "text"],
      ["a.json", "{}", "text"],
      ["a.png", "\x89PNG\r\n\x1a\n", "image"],
      ["a.png", "GIF89a", "unknown"],
      ["a.jpg", "\xff\xd8\xff\xe0", "image"],
      ["a.svg", "<svg>", "image"],
      ["LICENSE", "Apache", "unknown"],
      [".env", "KEY=1", "unknown"],
      ["a.constructor", "x", "unknown"],
    ] as const
  ) assert.equal(fileKind(path, bytes(head)), kind, path);
});

Deno.test("svgFault() refuses pictures that act", () => {
  for (
    const svg of [
      "<svg><script>x</script></svg>",
      "<svg><svg:script/></svg>",
      '<svg onload="x()">',
      "<svg\nonload=x>",
      '<a href="javascript:x()">',
      '<image href="https://evil.example/x.png"/>',
      '<use xlink:href="//evil.example/#x"/>',
      "<!DOCTYPE svg [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>",
      '<?xml-stylesheet href="x.css"?>',
      "<foreignObject/>",
      '<svg/onload="x()">',
      '<svg id="a"onload="x()">',
      '<a href="&#106;avascript:x()">',
      '<animate attributeName="href" values="https://evil.example/x"/>',
      '<set attributeName="xlink:href" to="//evil.example/x"/>',
      "<style>@import 'https://evil.example/x.css';</style>",
      "<style>*{background:url(https://evil.example/x.png)}</style>",
      '<rect fill="url(//evil.example/x#a)"/>',
      "<style>*{background:u\\72l(https://evil.example/x)}</style>",
      "<style>*{background:image-set('https://evil.example/x' 1x)}</style>",
      "<style>*{background:&#x75;rl('https://evil.example/x')}</style>",
    ]
  ) assert.notEqual(svgFault(svg), undefined, svg);
});

Deno.test("svgFault() leaves drawings alone", () => {
  for (
    const svg of [
      '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>',
      '<use href="#icon"/>',
      "<use xlink:href='#icon'/>",
      '<image href="data:image/png;base64,AAAA"/>',
      "<text>on = off</text>",
      '<rect fill="url(#gradient)" style="mask: url( \'#m\' )"/>',
      "<style>.a{fill:#fff} /* important */</style>",
      '<set attributeName="fill" to="red"/>',
      "<text>5 &lt; 6 &amp;c. &#169;</text>",
    ]
  ) assert.equal(svgFault(svg), undefined, svg);
});

Deno.test("svgFault() takes linear time, whatever the text", () => {
  const many = 500_000;
  for (const start of ["href=", "href='", "url(", "< ", " on", "javascript"]) {
    for (const part of [" ", start, "\\", "&#", "a"]) {
      const text = start + part.repeat(many / part.length) + "#";
      const begin = performance.now();
      svgFault(text);
      assert.ok(performance.now() - begin < 2000, `${start} ${part}`);
    }
  }
});
