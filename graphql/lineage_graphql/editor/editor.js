// Starts GraphiQL on this page, with a tab for each example. Everything comes from the service itself.
"use strict";

(async () => {
  const place = document.getElementById("editor");
  // What GraphiQL adds as <style> needs the page's nonce; its library reads it from here.
  window.__webpack_nonce__ = document.body.dataset.nonce;
  try {
    const answer = await fetch("graphql/editor/examples.json");
    if (!answer.ok) throw new Error(`the examples answered ${answer.status}`);
    const examples = await answer.json();
    const url = location.pathname;
    const socket = `${location.protocol === "https:" ? "wss:" : "ws:"}//${location.host}${url}`;
    const fetcher = GraphiQL.createFetcher({
      url,
      wsClient: graphqlWs.createClient({ url: socket, lazy: true }),
    });
    ReactDOM.createRoot(place).render(
      React.createElement(GraphiQL, { fetcher, defaultTabs: examples, defaultEditorToolsVisibility: "headers" })
    );
  } catch (error) {
    place.textContent = `The editor did not start: ${error.message}`;
  }
})();
