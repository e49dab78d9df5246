/** Rows as a file for Excel. */

import writeExcelFile from "write-excel-file/universal";
import { HEADINGS, type ListRow } from "./rows";

/** The rows that a sheet can hold below its heading. */
export const MOST_IN_A_SHEET = 1_048_575;
const MOST_CHARACTERS = 32_767;

const WIDTHS: Partial<Record<keyof ListRow, number>> = { table: 40, column: 32, hops: 7, subtypes: 26, masking: 10 };

/** The file of the rows, with a heading that stays in sight. Texts are texts: none is taken for a formula. */
export function excelOf(rows: readonly ListRow[]): Promise<Blob> {
  const heading = HEADINGS.map(([, value]) => ({ value, fontWeight: "bold" as const }));
  const cells = rows.map((row) =>
    HEADINGS.map(([name]) => {
      const value = row[name];
      if (typeof value === "number") return { value, type: Number };
      return value ? { value: value.slice(0, MOST_CHARACTERS), type: String } : null;
    }),
  );
  const columns = HEADINGS.map(([name]) => ({ width: WIDTHS[name] ?? 18 }));
  return writeExcelFile([heading, ...cells], { columns, stickyRowsCount: 1, sheet: "Lineage" }).toBlob();
}
