/** Starts the dashboard in a browser. */
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { render } from "preact";
import { App } from "./app.tsx";
import { answerKeyRequests, requestKey } from "./key-handover.ts";
import { followLinks } from "./router.ts";
import { followKeyLinks, session, setApiKey } from "./session.ts";

const root = document.querySelector("#app");
if (root === null) throw new Error("The document has no #app");
followLinks();
followKeyLinks();
answerKeyRequests(() => session.get().apiKey);
if (session.get().apiKey === null) {
  const key = await requestKey();
  if (key !== null) setApiKey(key);
}
// In a task of its own: together with the start of the program it would take long.
setTimeout(() => render(<App />, root));
