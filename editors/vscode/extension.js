// The client of `lineage lsp`: it starts the server, and shows what its commands return.

const path = require("node:path");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const LANGUAGES = ["sql", "jinja-sql", "snowflake-sql", "postgres"];
const SETTINGS = ["store", "dialect", "namespace", "defaultDatabase", "defaultSchema", "catalogs", "explorer"];
const PREVIEW = "lineage-impact";

let client;
let previews = new Map();

function settings() {
  const configuration = vscode.workspace.getConfiguration("lineage");
  const options = Object.fromEntries(SETTINGS.map((name) => [name, configuration.get(name)]));
  return { command: configuration.get("command") || "lineage", options: { ...options, preview: true } };
}

function makeClient() {
  const { command, options } = settings();
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const executable = /[\\/]/.test(command) && folder ? path.resolve(folder, command) : command;
  const server = { command: executable, args: ["lsp"], options: { cwd: folder } };
  return new LanguageClient("lineage", "Lineage", server, {
    documentSelector: LANGUAGES.flatMap((language) => [
      { language, scheme: "file" },
      { language, scheme: "untitled" },
    ]),
    initializationOptions: options,
    middleware: {
      executeCommand: async (name, given, next) => {
        const answer = await next(name, given);
        if (name === "lineage.whoBreaks" && answer) await showImpact(answer);
        return answer;
      },
    },
  });
}

async function showImpact(answer) {
  const uri = vscode.Uri.from({ scheme: PREVIEW, path: `/${answer.title.replace(/[/?#]/g, " ")}.md` });
  previews.set(uri.toString(), answer.markdown);
  changed.fire(uri);
  await vscode.commands.executeCommand("markdown.showPreviewToSide", uri);
}

const changed = new vscode.EventEmitter();

async function start() {
  client = makeClient();
  try {
    await client.start();
  } catch (error) {
    const hint = "Install it (pip install '.[lsp]' in a checkout of lineage), or set lineage.command to its path.";
    vscode.window.showErrorMessage(`Lineage: the server does not start. ${hint} (${error.message})`);
  }
}

async function restart() {
  await client?.stop().catch(() => undefined);
  await start();
}

exports.activate = async (context) => {
  context.subscriptions.push(
    vscode.workspace.registerTextDocumentContentProvider(PREVIEW, {
      onDidChange: changed.event,
      provideTextDocumentContent: (uri) => previews.get(uri.toString()) ?? "",
    }),
    vscode.workspace.onDidCloseTextDocument((document) => previews.delete(document.uri.toString())),
    vscode.commands.registerCommand("lineage.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("lineage") && restart()),
  );
  await start();
};

exports.deactivate = () => client?.stop();
