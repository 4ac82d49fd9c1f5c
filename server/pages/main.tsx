/** Starts the dashboard in a browser. */
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { render } from "preact";
import { App } from "./app.tsx";
import { followLinks } from "./router.ts";

const root = document.querySelector("#app");
if (root === null) throw new Error("The document has no #app");
followLinks();
render(<App />, root);
