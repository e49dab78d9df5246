import { defineConfig } from "vite";

// File names without hashes: the build is committed, and a change is a change of three files.
export default defineConfig({
  base: "./",
  // The page is at `/`, its files are below it: addresses stay relative, so that a proxy may add a prefix.
  experimental: { renderBuiltUrl: (file, { hostType }) => (hostType === "html" ? `explorer/${file}` : { relative: true }) },
  build: {
    outDir: "../lineage_graphql/explorer",
    emptyOutDir: true,
    chunkSizeWarningLimit: 1000,
    target: "es2022",
    modulePreload: { polyfill: false },
    rollupOptions: {
      onwarn: (warning, warn) => warning.code !== "MODULE_LEVEL_DIRECTIVE" && warn(warning),
      output: {
        entryFileNames: "explorer.js",
        chunkFileNames: "[name].js",
        assetFileNames: "explorer[extname]",
      },
    },
  },
});
