import "@xyflow/react/dist/base.css";
import "./style.css";
import { createRoot } from "react-dom/client";
import { App } from "./App";
import { FileSource } from "./file";
import { ServiceSource } from "./service";

const place = document.getElementById("page")!;
const data = document.getElementById("lineage-data")?.textContent;
createRoot(place).render(<App source={data ? new FileSource(JSON.parse(data)) : new ServiceSource("graphql")} />);
