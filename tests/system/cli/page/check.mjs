// Pages in a real browser: node check.mjs BROWSER FOLDER AXE PAGE...  FOLDER is for its profile, AXE the file axe.min.js
// or "". Prints a line for each fault and exits 1 when there is one.
import { readFileSync } from "node:fs";
import { Browser } from "./browser.mjs";

const WIDTHS = [360, 768, 1280, 1920];
const SCHEMES = ["light", "dark"];
const AXE_WIDTHS = [360, 1280];
const KEYBOARD_WIDTHS = [360, 1280];
const TABS_MAX = 400;

const [program, folder, axe, ...pages] = process.argv.slice(2);
const axeSource = axe ? readFileSync(axe, "utf8") : null;
let faults = 0;

function fault(text) {
	faults++;
	console.log(text);
}

// What is wider than its room: a page that scrolls sideways, a table that is cut off, text beyond the edge. With folds
// shut and open.
const CLIPPED = `(() => {
	const wide = [], edge = innerWidth + 0.5;
	if (document.documentElement.scrollWidth > innerWidth) { wide.push("the page: " + document.documentElement.scrollWidth); }
	for (const e of document.querySelectorAll(".scroll")) {
		if (e.scrollWidth > e.clientWidth + 1) { wide.push(e.getAttribute("aria-label") + ": " + e.scrollWidth + " in " + e.clientWidth); }
	}
	for (const e of document.querySelectorAll("main *")) {
		if (e.checkVisibility() && e.getBoundingClientRect().right > edge) { wide.push(e.tagName + " " + e.textContent.slice(0, 30)); }
	}
	return wide.slice(0, 5);
})()`;

const OPEN = "document.querySelectorAll('details').forEach((e) => { e.open = true; })";
const SHUT = "document.querySelectorAll('details').forEach((e) => { e.open = false; })";

async function layout(tab, name, width) {
	for (const [state, script] of [["shut", SHUT], ["open", OPEN]]) {
		await tab.ask(script);
		for (const wide of await tab.ask(CLIPPED)) {
			fault(`${name}, ${width} px, folds ${state}: cut off: ${wide}`);
		}
	}
}

// From the top, Tab visits each link, fold and region, and one sees where one is.
async function keyboard(tab, name, width) {
	await tab.ask(`${SHUT}; document.activeElement.blur(); scrollTo(0, 0);
		window.wanted = new Set([...document.querySelectorAll("a, summary, [tabindex]")].filter((e) => e.checkVisibility())); wanted.size`);
	for (let i = 0; i < TABS_MAX; i++) {
		await tab.press("Tab");
		const at = await tab.ask(`(() => {
			const e = document.activeElement, style = getComputedStyle(e);
			wanted.delete(e);
			return { done: wanted.size === 0, body: e === document.body, seen: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
				what: e.tagName + " " + e.textContent.slice(0, 30) };
		})()`);
		if (!at.body && !at.seen) {
			fault(`${name}, ${width} px: no outline around ${at.what}`);
		}
		if (at.done) {
			break;
		}
	}
	for (const missed of await tab.ask("[...wanted].map((e) => e.tagName + ' ' + e.textContent.slice(0, 30))")) {
		fault(`${name}, ${width} px: not reached by Tab: ${missed}`);
	}
	const opened = await tab.ask("(() => { const s = document.querySelector('summary'); s?.focus(); return s !== null; })()");
	if (opened) {
		await tab.press("Enter");
		if (!await tab.ask("document.querySelector('summary').parentElement.open")) {
			fault(`${name}, ${width} px: Enter does not open a fold`);
		}
	}
}

// Structure is the same in both schemes: it is looked at in one.
async function accessible(tab, name, width, scheme) {
	const rules = scheme === "light" ? "" : ', runOnly: ["color-contrast"]';
	await tab.ask(OPEN);
	await tab.ask(`window.axe === undefined && (0, eval)(${JSON.stringify(axeSource)}), 0`);
	const found = await tab.ask(`axe.run(document, { resultTypes: ["violations"]${rules} }).then((r) => r.violations
		.filter((v) => v.impact === "serious" || v.impact === "critical")
		.map((v) => v.id + " x " + v.nodes.length + ": " + v.nodes[0].html.slice(0, 120) + " " + (v.nodes[0].any[0]?.message ?? "")))`);
	for (const violation of found) {
		fault(`${name}, ${width} px, ${scheme}: ${violation}`);
	}
}

async function check(tab, page) {
	const name = page.replace(/.*\//, "");
	await tab.open(`file://${page}`);
	for (const scheme of SCHEMES) {
		for (const width of WIDTHS) {
			await tab.size(width, 900, scheme);
			if (scheme === "light") {
				await layout(tab, name, width);
			}
			if (axeSource && AXE_WIDTHS.includes(width)) {
				await accessible(tab, name, width, scheme);
			}
			if (scheme === "light" && KEYBOARD_WIDTHS.includes(width)) {
				await keyboard(tab, name, width);
			}
			if (scheme === "light" && width === 1280) {
				await tab.ask(SHUT);
				console.error(`height ${name} ${await tab.ask("document.documentElement.scrollHeight")}`);
			}
		}
	}
}

const browser = new Browser(program, folder);
try {
	const tab = await browser.tab();
	for (const page of pages) {
		await check(tab, page);
	}
} finally {
	await browser.close();
}
process.exit(faults ? 1 : 0);
