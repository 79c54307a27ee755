// CSV files: parsed as a table of text, and written in the format of keeptree predict.

const MISSING = new Set(["", "?", "NA", "NaN", "nan", "null", "None"]);
const MARKS = [",", ";", "\t", "|"];

/** Text of a file: UTF-8 or UTF-16 according to its first bytes, otherwise Latin-1. */
export function decodeText(bytes) {
  const [a, b] = bytes;
  const wide = a === 0xff && b === 0xfe ? "utf-16le" : a === 0xfe && b === 0xff ? "utf-16be" : null;
  if (wide) return new TextDecoder(wide).decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/** Names of the columns and rows of cells, null where a value is missing; an error is one sentence. */
export function readTable(text) {
  if (text.includes("\0")) throw new Error("it contains NUL bytes, so it is not a CSV file.");
  const mark = findMark(text);
  const [names, ...rows] = splitCells(text, mark);
  if (!names || names.every((name) => name === "")) throw new Error("its first line is empty, where the names of the columns are expected.");
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new Error(`two columns are called "${twice}"; column names must be unique.`);
  if (!rows.length) throw new Error("it has no rows; a header and at least one row are needed.");
  rows.forEach((row, at) => {
    if (row.length !== names.length) throw new Error(`row ${at + 1} has ${row.length} cells, but the header has ${names.length}; correct it.`);
  });
  return { names, rows: rows.map((row) => row.map((cell) => (MISSING.has(cell) ? null : cell))), mark };
}

/** The column separator: the candidate that occurs most often in the first line. */
function findMark(text) {
  const line = text.slice(0, text.search(/[\r\n]|$/)).replace(/"(?:[^"]|"")*"/g, "");
  return MARKS.reduce((best, mark) => (line.split(mark).length > line.split(best).length ? mark : best));
}

/** Cells without surrounding spaces; quotes protect separators and line breaks. */
function splitCells(text, mark) {
  const rows = [];
  let row = [];
  let cell = "";
  let quoted = false;
  const endCell = () => {
    row.push(cell.trim());
    cell = "";
  };
  const endRow = () => {
    endCell();
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
  };
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (quoted) {
      if (char !== '"') cell += char;
      else if (text[at + 1] === '"') cell += text[(at += 1)];
      else quoted = false;
    } else if (char === '"' && cell.trim() === "") {
      quoted = true;
      cell = "";
    } else if (char === mark) endCell();
    else if (char === "\n" || char === "\r") {
      if (char === "\r" && text[at + 1] === "\n") at += 1;
      endRow();
    } else cell += char;
  }
  if (quoted) throw new Error("a quotation mark is opened and never closed.");
  if (cell !== "" || row.length) endRow();
  return rows;
}

/** CSV text; text is quoted, numbers and booleans are not. */
export function writeTable(names, rows) {
  const told = (value) => (typeof value === "string" ? `"${value.replaceAll('"', '""')}"` : String(value));
  return [names, ...rows].map((row) => row.map(told).join(",")).join("\n") + "\n";
}
