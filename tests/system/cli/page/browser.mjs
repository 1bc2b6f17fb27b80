// Chromium over a pipe (its DevTools protocol, messages end with a zero byte): no port, no package.
import { spawn } from "node:child_process";

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-sync",
	"--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"];

// A tab that can be resized, coloured, typed into and asked.
export class Tab {
	constructor(browser, session) {
		this.browser = browser;
		this.session = session;
	}

	send(method, params = {}) {
		return this.browser.send(method, params, this.session);
	}

	async open(url) {
		const loaded = this.browser.once("Page.loadEventFired", this.session);
		await this.send("Page.navigate", { url });
		await loaded;
	}

	async size(width, height, scheme) {
		await this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
		await this.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
	}

	// The value of an expression; promises are awaited.
	async ask(expression) {
		const answer = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
		if (answer.exceptionDetails) {
			throw new Error(answer.exceptionDetails.exception?.description ?? answer.exceptionDetails.text);
		}
		return answer.result.value;
	}

	async press(key) {
		const code = { Tab: 9, Enter: 13 }[key];
		const event = { key, code: key, windowsVirtualKeyCode: code };
		const down = key === "Enter" ? { type: "keyDown", text: "\r" } : { type: "rawKeyDown" };
		await this.send("Input.dispatchKeyEvent", { ...down, ...event });
		await this.send("Input.dispatchKeyEvent", { type: "keyUp", ...event });
	}
}

export class Browser {
	constructor(program, profile) {
		this.process = spawn(program, [...FLAGS, `--user-data-dir=${profile}`, "--remote-debugging-pipe", "about:blank"],
			{ stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"], env: { ...process.env, HOME: profile } });
		this.waiting = new Map();
		this.next = 1;
		this.rest = Buffer.alloc(0);
		this.process.stdio[4].on("data", (data) => this.receive(data));
		this.process.on("exit", () => this.waiting.forEach(({ reject }) => reject(new Error("the browser ended"))));
	}

	receive(data) {
		this.rest = Buffer.concat([this.rest, data]);
		for (let end = this.rest.indexOf(0); end >= 0; end = this.rest.indexOf(0)) {
			this.answer(JSON.parse(this.rest.subarray(0, end).toString()));
			this.rest = this.rest.subarray(end + 1);
		}
	}

	answer(message) {
		const key = message.id ?? `${message.method} ${message.sessionId ?? ""}`;
		const waiting = this.waiting.get(key);
		this.waiting.delete(key);
		if (message.error) {
			waiting?.reject(new Error(message.error.message));
		} else {
			waiting?.resolve(message.result ?? message.params);
		}
	}

	wait(key) {
		return new Promise((resolve, reject) => this.waiting.set(key, { resolve, reject }));
	}

	once(method, session) {
		return this.wait(`${method} ${session ?? ""}`);
	}

	send(method, params, sessionId) {
		const id = this.next++;
		const answer = this.wait(id);
		this.process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
		return answer;
	}

	async tab() {
		const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
		const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
		const tab = new Tab(this, sessionId);
		await tab.send("Page.enable");
		// The tests' own script would be refused as the page's are.
		await tab.send("Page.setBypassCSP", { enabled: true });
		return tab;
	}

	async close() {
		const ended = new Promise((resolve) => this.process.once("exit", resolve));
		this.waiting.clear();
		this.send("Browser.close", {}).catch(() => {});
		await ended;
	}
}
