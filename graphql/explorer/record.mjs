// Records beside the built page which sources it was built from (tests/explorer/test_build.py compares them without
// Node), and the licences of what is bundled in it.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";

const BUILT = "../lineage_graphql/explorer";

const files = [...readdirSync("src").map((name) => `src/${name}`), "index.html", "package-lock.json", "vite.config.ts"].sort();
const lines = files.map((name) => `${createHash("sha256").update(readFileSync(name)).digest("hex")}  ${name}\n`);
writeFileSync(`${BUILT}/sources.sha256`, lines.join(""));

const { packages } = JSON.parse(readFileSync("package-lock.json", "utf-8"));
// Types are no part of the page.
const bundled = Object.entries(packages).filter(([path, one]) => path && !one.dev && !path.includes("@types/") && !one.optional && path !== "node_modules/csstype");
const texts = bundled.map(([path, { version, license }]) => {
  const file = ["LICENSE", "LICENSE.md", "license", "LICENSE.txt"].map((name) => `${path}/${name}`).find(existsSync);
  const text = file ? readFileSync(file, "utf-8").trim() : `Licence: ${license}`;
  return `## ${path.replace("node_modules/", "")} ${version}\n\n\`\`\`text\n${text}\n\`\`\`\n`;
});
writeFileSync(`${BUILT}/LICENSES.md`, `# Licences of what explorer.js contains\n\n${texts.join("\n")}`);
