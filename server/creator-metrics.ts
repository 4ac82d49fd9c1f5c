#!/usr/bin/env bun
/** The entry of the installed program: runs the command line under the name `creator-metrics`. */
import { main } from "./main.ts";

await main("creator-metrics");
