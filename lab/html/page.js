// SPDX-License-Identifier: GPL-2.0
// A click on a column's head sorts the table by it, a second one the other way round.
for (const table of document.querySelectorAll("table.sortable")) {
	const heads = [...table.tHead.rows[0].cells];
	const key = (row, column) => {
		const cell = row.cells[column];
		return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent;
	};
	const compare = (a, b) => {
		if (typeof a === "string")
			return a.localeCompare(b, undefined, { numeric: true });
		return Number.isNaN(a) - Number.isNaN(b) || a - b;
	};
	const sort = (column) => {
		const up = heads[column].ariaSort !== "ascending";
		for (const head of heads)
			head.removeAttribute("aria-sort");
		heads[column].ariaSort = up ? "ascending" : "descending";
		const rows = [...table.tBodies[0].rows];
		rows.sort((a, b) => (up ? 1 : -1) * compare(key(a, column), key(b, column)));
		table.tBodies[0].append(...rows);
	};
	heads.forEach((head, column) => head.addEventListener("click", () => sort(column)));
}
