/** Starts the administrator's page in a browser. */
import "uplot/dist/uPlot.min.css";
import "../style.css";
import "./style.css";
import { render } from "preact";
import { AdminApp } from "./app.tsx";

const root = document.querySelector("#app");
if (root === null) throw new Error("The document has no #app");
render(<AdminApp />, root);
