/** The tools of all charts of a page: zoom, scale, table, and files. */
import { Button } from "../parts/form.tsx";

export type Zoom = Readonly<{ factor: number; shift?: number }>;

/** Buttons that zoom or move. While all is shown, only the button that zooms in has an effect. */
const ZOOM_BUTTONS = [
  { sign: "+", label: "Zoom in", hint: ", or drag over the chart", factor: 0.5 },
  { sign: "−", label: "Zoom out", hint: "", factor: 2 },
  { sign: "‹", label: "Earlier", hint: "", factor: 1, shift: -0.5 },
  { sign: "›", label: "Later", hint: "", factor: 1, shift: 0.5 },
  { sign: "All", label: "Fit all", hint: ", or double-click the chart", factor: Infinity },
];

export function Toolbar(properties: {
  /** What the charts show, for names of buttons that are read alone. */
  readonly title: string;
  readonly period: string;
  readonly isWhole: boolean;
  /** Without a value, the charts have no logarithmic scale. */
  readonly isLog: boolean | undefined;
  readonly isTableOpen: boolean;
  readonly onZoom: (zoom: Zoom) => void;
  readonly onToggleLog: () => void;
  readonly onToggleTable: () => void;
  readonly onSaveCsv: () => void;
  readonly onSavePicture: () => void;
}) {
  const { title, period, isWhole, isLog, isTableOpen } = properties;
  const { onZoom, onToggleLog, onToggleTable, onSaveCsv, onSavePicture } = properties;
  return (
    <div class="toolbar" role="group" aria-label={`Tools of ${title}`}>
      <span class="period">{period}</span>
      <div class="segments" role="group" aria-label={`Zoom of ${title}`}>
        {ZOOM_BUTTONS.map(({ sign, label, hint, factor, shift = 0 }) => (
          <button
            key={label}
            type="button"
            aria-label={label}
            title={`${label}${hint}`}
            aria-disabled={factor >= 1 && isWhole}
            onClick={() => onZoom({ factor, shift })}
          >
            {sign}
          </button>
        ))}
      </div>
      {isLog !== undefined && (
        <button
          type="button"
          aria-pressed={isLog}
          title="A logarithmic scale: equal steps multiply by the same factor"
          onClick={onToggleLog}
        >
          Log <span class="hidden">scale of {title}</span>
        </button>
      )}
      <button type="button" aria-expanded={isTableOpen} onClick={onToggleTable}>
        Table <span class="hidden">of {title}</span>
      </button>
      <Button label="CSV" about={`CSV of ${title}`} onClick={onSaveCsv} />
      <Button
        label="PNG"
        about={`PNG of ${title}`}
        hint="A picture of the charts as they are shown"
        onClick={onSavePicture}
      />
    </div>
  );
}
