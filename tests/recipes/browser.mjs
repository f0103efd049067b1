// Clicks through cookbook pages; see browser.py. Reads jobs as JSON from stdin, writes what was shown as JSON.
import fs from "node:fs";

const MOST = 60000;
const quiet = () => {};
const element = {
  classList: { contains: () => false }, getAttribute: () => null, style: {}, scrollIntoView: quiet,
};
const surroundings = {
  document: { documentElement: element, body: element, getElementById: () => null, querySelectorAll: () => [], querySelector: () => null, addEventListener: quiet, removeEventListener: quiet },
  window: {
    location: { hash: "", href: "" }, history: { state: null, replaceState: quiet }, addEventListener: quiet,
    removeEventListener: quiet, dispatchEvent: quiet, localStorage: { getItem: () => null, setItem: quiet },
    matchMedia: () => ({ matches: false, addEventListener: quiet, removeEventListener: quiet }),
  },
  navigator: { clipboard: { writeText: () => Promise.resolve() } },
  localStorage: { getItem: () => null, setItem: quiet },
  MutationObserver: class { observe() {} disconnect() {} },
  CustomEvent: class {},
  setTimeout: quiet,
  clearTimeout: quiet,
};

const h = (tag, attributes, ...children) => ({ tag, attributes: attributes || {}, children: children.flat(Infinity) });

const textOf = (node) => {
  if (node === null || node === undefined || typeof node === "boolean") return "";
  if (Array.isArray(node)) return node.map(textOf).join("");
  return typeof node === "object" ? textOf(node.children) : String(node);
};

function* walk(node) {
  if (Array.isArray(node)) { for (const child of node) yield* walk(child); return; }
  if (node === null || typeof node !== "object") return;
  yield node;
  yield* walk(node.children);
}

// One mount of a component. `choices` replaces the state that holds the visitor's choices.
class Mount {
  constructor(component, props, options, choices) {
    Object.assign(this, { component, props, options, choices, hooks: [], at: 0, place: -1 });
  }
  useState(initial) {
    const index = this.at++;
    if (!(index in this.hooks)) {
      let value = typeof initial === "function" ? initial() : initial;
      const holds = value && typeof value === "object" && this.options.some((name) => name in value);
      if (holds && this.place < 0) {
        this.place = index;
        if (this.choices) value = this.choices;
      }
      this.hooks[index] = value;
    }
    const set = (next) => {
      this.hooks[index] = typeof next === "function" ? next(this.hooks[index]) : next;
      this.changed = true;
    };
    return [this.hooks[index], set];
  }
  useEffect(effect, wanted) {
    const index = this.at++;
    const before = this.hooks[index];
    if (!before || !wanted || wanted.some((value, i) => !Object.is(value, before[i]))) this.effects.push(effect);
    this.hooks[index] = wanted || [];
  }
  render() {
    for (let round = 0; round < 20; round++) {
      this.at = 0;
      this.effects = [];
      this.changed = false;
      current = this;
      const tree = this.component(this.props);
      for (const effect of this.effects) effect();
      if (!this.changed) return tree;
    }
    throw new Error("the page never comes to rest");
  }
}

let current = null;
const hooks = {
  useState: (initial) => current.useState(initial),
  useEffect: (effect, wanted) => current.useEffect(effect, wanted),
  useLayoutEffect: (effect, wanted) => current.useEffect(effect, wanted),
  useMemo: (make) => { current.at++; return make(); },
  useCallback: (call) => { current.at++; return call; },
  useRef: (initial) => { current.at++; return { current: initial }; },
};

const controls = (tree) =>
  [...walk(tree)].filter((node) => {
    const { onChange, onClick, disabled, type } = node.attributes;
    if (disabled || !(onChange || onClick)) return false;
    return !["text", "number"].includes(type) && node.tag !== "textarea";
  });

const operate = (node) => {
  const { onChange, onClick, checked, value, type } = node.attributes;
  const event = {
    target: { value, checked: type === "radio" ? true : !checked }, preventDefault: quiet, stopPropagation: quiet,
  };
  (onChange || onClick)(event);
};

const shownBy = (tree) => {
  const blocks = [...walk(tree)].filter((node) => node.tag === "pre" || node.tag === "code");
  return textOf(blocks.filter((node) => node.tag === "pre")[0] ?? blocks[0] ?? null);
};

const visit = ({ script, component, options, props = "({})", fixed = [] }) => {
  const names = [...Object.keys(hooks), ...Object.keys(surroundings), "h"];
  const made = new Function(...names, `${script}\nreturn [${component}, ${props}];`);
  const [page, given] = made(...Object.values(hooks), ...Object.values(surroundings), h);
  const open = (choices) => {
    const mount = new Mount(page, given, options, choices);
    return [mount, mount.render()];
  };
  const stateOf = (mount) => mount.hooks[mount.place];
  const start = stateOf(open(null)[0]);
  const frozen = (state) => fixed.every((name) => JSON.stringify(state[name]) === JSON.stringify(start[name]));
  const shown = [];
  const waiting = [start];
  const known = new Set([JSON.stringify(start)]);
  while (waiting.length) {
    const state = waiting.shift();
    let tree;
    try {
      tree = open(state)[1];
    } catch (error) {
      shown.push([state, null, String(error)]);
      continue;
    }
    shown.push([state, shownBy(tree)]);
    for (let index = 0; index < controls(tree).length; index++) {
      const [mount, fresh] = open(state);
      operate(controls(fresh)[index]);
      try {
        mount.render();
      } catch (error) {
        const after = stateOf(mount);
        const key = JSON.stringify(after);
        if (!known.has(key)) { known.add(key); shown.push([after, null, String(error)]); }
        continue;
      }
      const after = stateOf(mount);
      const key = JSON.stringify(after);
      if (known.has(key) || !frozen(after)) continue;
      if (known.size > MOST) throw new Error("too many selections");
      known.add(key);
      waiting.push(after);
    }
  }
  return { shown };
};

const jobs = JSON.parse(fs.readFileSync(0, "utf8"));
const answers = jobs.map((job) => {
  try {
    return visit(job);
  } catch (error) {
    return { error: String(error && error.stack) };
  }
});
process.stdout.write(JSON.stringify(answers));
