/*
 * The path of one operation: a walk backwards from its end. Whatever ended at that instant is what it waited
 * for; from that one's start the walk goes on, into each span before past it. Spans below carry the number of
 * the operation that began the work, which may be another's (group commit): such shared work is found by its
 * end, everything else by its number.
 */
#include "sim/stack/explain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum kind {
	KIND_NONE,
	KIND_GUEST,
	KIND_WORK,
	KIND_DATABASE,
	KIND_FSYNC,
	KIND_JOURNAL,
	KIND_CALL,
	KIND_VIRTUAL_DISK,
	KIND_NETWORK,
	KIND_NFSD_QUEUE,
	KIND_NFSD,
	KIND_ZFS,
	KIND_THROTTLE,
	KIND_ZIL,
	KIND_HAND_OFF,
	KIND_LOG,
	KIND_DATA,
	KIND_DISK,
	KIND_GUEST_CPU,
	KIND_STORAGE_CPU,
	KIND_LOCAL, /* a "guest" span of a program on the storage machine itself */
	KINDS
};

#define BIT(kind) (1u << (kind))

struct rule {
	const char *layer;  /* in the trace */
	unsigned shared;    /* kinds that may serve others too: one of them, at the end of the span */
	unsigned own;       /* kinds that carry the span's number */
	enum sl_layer self; /* who accounts for CPU work in the span ... */
	enum sl_layer rest; /* ... and for what is neither CPU nor below: waiting */
	enum kind cpu;
};

static const struct rule rules[KINDS] = {
    [KIND_GUEST] = {"guest", BIT(KIND_DATABASE), BIT(KIND_WORK) | BIT(KIND_FSYNC) | BIT(KIND_CALL),
		    SL_LAYER_GUEST, SL_LAYER_DATABASE, KIND_NONE},
    [KIND_WORK] = {"guest work", 0, 0, SL_LAYER_GUEST, SL_LAYER_GUEST, KIND_GUEST_CPU},
    [KIND_DATABASE] = {"InnoDB", 0, BIT(KIND_FSYNC), SL_LAYER_DATABASE, SL_LAYER_DATABASE, KIND_NONE},
    [KIND_FSYNC] = {"ext4", BIT(KIND_JOURNAL), BIT(KIND_CALL), SL_LAYER_FS, SL_LAYER_FS, KIND_GUEST_CPU},
    [KIND_JOURNAL] = {"jbd2", 0, BIT(KIND_CALL), SL_LAYER_FS, SL_LAYER_FS, KIND_GUEST_CPU},
    [KIND_CALL] = {"hypervisor", 0,
		   BIT(KIND_VIRTUAL_DISK) | BIT(KIND_NETWORK) | BIT(KIND_NFSD_QUEUE) | BIT(KIND_NFSD),
		   SL_LAYER_HYP, SL_LAYER_HYP, KIND_NONE},
    [KIND_VIRTUAL_DISK] = {"virtual disk", 0, 0, SL_LAYER_HYP, SL_LAYER_HYP, KIND_NONE},
    [KIND_NETWORK] = {"network", 0, 0, SL_LAYER_NETWORK, SL_LAYER_NETWORK, KIND_NONE},
    [KIND_NFSD_QUEUE] = {"nfsd queue", 0, 0, SL_LAYER_NFSD, SL_LAYER_NFSD, KIND_NONE},
    [KIND_NFSD] = {"nfsd", 0, BIT(KIND_ZFS), SL_LAYER_NFSD, SL_LAYER_NFSD, KIND_STORAGE_CPU},
    [KIND_ZFS] = {"ZFS", BIT(KIND_ZIL), BIT(KIND_THROTTLE) | BIT(KIND_DATA), SL_LAYER_ZFS, SL_LAYER_ZIL,
		  KIND_STORAGE_CPU},
    [KIND_THROTTLE] = {"write throttle", 0, 0, SL_LAYER_THROTTLE, SL_LAYER_THROTTLE, KIND_NONE},
    [KIND_ZIL] = {"ZIL", 0, BIT(KIND_HAND_OFF) | BIT(KIND_LOG) | BIT(KIND_DATA), SL_LAYER_ZIL, SL_LAYER_ZIL,
		  KIND_STORAGE_CPU},
    [KIND_HAND_OFF] = {"ZIL threads", 0, 0, SL_LAYER_ZIL, SL_LAYER_ZIL, KIND_NONE},
    [KIND_LOG] = {"log vdev", 0, BIT(KIND_DISK), SL_LAYER_VDEV, SL_LAYER_VDEV, KIND_STORAGE_CPU},
    [KIND_DATA] = {"data vdev", 0, BIT(KIND_DISK), SL_LAYER_VDEV, SL_LAYER_VDEV, KIND_STORAGE_CPU},
    [KIND_DISK] = {"disk", 0, 0, SL_LAYER_DATA_DISK, SL_LAYER_DATA_DISK, KIND_NONE},
    [KIND_GUEST_CPU] = {"guest vCPUs", 0, 0, SL_LAYER_GUEST, SL_LAYER_GUEST, KIND_NONE},
    [KIND_LOCAL] = {"", 0, BIT(KIND_ZFS), SL_LAYER_GUEST, SL_LAYER_GUEST, KIND_STORAGE_CPU},
    [KIND_STORAGE_CPU] = {"storage vCPUs", 0, 0, SL_LAYER_ZFS, SL_LAYER_ZFS, KIND_NONE},
};

struct node {
	enum kind kind;
	const struct sl_span *span;
};

struct walk {
	struct node *nodes; /* spans of known kinds that lie in the operation's time */
	uint32_t n;
	struct sl_path *path;
	bool serial[2]; /* data, log: the disks serve one request at a time */
	bool (*stopped)(void);
	int rc; /* -ENOMEM, or -EINTR: stopped */
};

static void walk_node(struct walk *walk, const struct node *node, enum kind parent, int64_t lo_ns,
		      int64_t hi_ns);

static enum kind kind_of(const char *layer)
{
	/* Special vdevs hold a part of the data, cache devices a copy. */
	if (strcmp(layer, "special vdev") == 0 || strcmp(layer, "cache vdev") == 0) {
		return KIND_DATA;
	}
	for (int k = KIND_NONE + 1; k < KIND_LOCAL; k++) {
		if (strcmp(rules[k].layer, layer) == 0) {
			return (enum kind)k;
		}
	}
	return KIND_NONE;
}

/* Segments come from the end to the start. */
static void emit(struct walk *walk, enum sl_layer layer, bool waiting, int64_t start_ns, int64_t end_ns)
{
	struct sl_path *path = walk->path;

	if (end_ns <= start_ns) {
		return;
	}
	*(waiting ? &path->waiting_ns[layer] : &path->service_ns[layer]) += end_ns - start_ns;
	if (path->n_segments > 0) {
		struct sl_segment *next = &path->segments[path->n_segments - 1];

		if (next->layer == layer && next->waiting == waiting) {
			next->start_ns = start_ns - path->start_ns;
			return;
		}
	}
	if (path->n_segments == path->room) {
		int room = path->room ? 2 * path->room : 32;
		struct sl_segment *segments = realloc(path->segments, (size_t)room * sizeof(*path->segments));

		if (!segments) {
			walk->rc = -ENOMEM;
			return;
		}
		path->segments = segments;
		path->room = room;
	}
	path->segments[path->n_segments++] =
	    (struct sl_segment){layer, waiting, start_ns - path->start_ns, end_ns - path->start_ns};
}

/* A stretch of which `busy_ns` at most was work: drawn as waiting first. */
static void emit_shared(struct walk *walk, enum sl_layer layer, int64_t start_ns, int64_t end_ns,
			int64_t busy_ns)
{
	int64_t began_ns = end_ns - busy_ns > start_ns ? end_ns - busy_ns : start_ns;

	emit(walk, layer, false, began_ns, end_ns);
	emit(walk, layer, true, start_ns, began_ns);
}

/* A CPU job that starts at start_ns (or, where that is SL_NEVER, anywhere from lo_ns) and ends at end_ns
 * (SL_NEVER: anywhere up to hi_ns). */
static const struct sl_span *find_job(const struct walk *walk, enum kind cpu, int64_t start_ns,
				      int64_t end_ns, int64_t lo_ns, int64_t hi_ns)
{
	for (uint32_t i = 0; i < walk->n; i++) {
		const struct sl_span *span = walk->nodes[i].span;

		if (walk->nodes[i].kind == cpu && (start_ns == SL_NEVER || span->start_ns == start_ns) &&
		    (end_ns == SL_NEVER || span->end_ns == end_ns) && span->end_ns > lo_ns &&
		    span->end_ns <= hi_ns && (start_ns != SL_NEVER || span->start_ns >= lo_ns)) {
			return span;
		}
	}
	return NULL;
}

/* What no span below covers: CPU work of the layer itself at its start, waiting, and perhaps CPU work of what
 * was waited for (a log block that is packed only then). */
static void emit_gap(struct walk *walk, const struct node *node, int64_t start_ns, int64_t end_ns)
{
	const struct rule *rule = &rules[node->kind];
	const struct sl_span *head = NULL, *tail = NULL;
	int64_t head_end_ns = start_ns;

	if (rule->cpu != KIND_NONE) {
		head = find_job(walk, rule->cpu, start_ns, end_ns, start_ns, end_ns);
		head = head ? head : find_job(walk, rule->cpu, start_ns, SL_NEVER, start_ns, end_ns);
		head_end_ns = head ? head->end_ns : start_ns;
		tail = find_job(walk, rule->cpu, SL_NEVER, end_ns, head_end_ns, end_ns);
	}
	if (tail) {
		emit_shared(walk, rule->rest, tail->start_ns, end_ns, tail->busy_ns);
		end_ns = tail->start_ns;
	}
	emit(walk, rule->rest, true, head_end_ns, end_ns);
	if (head) {
		emit_shared(walk, rule->self, start_ns, head_end_ns, head->busy_ns);
	}
}

/* Of two spans that end together: the outer layer; then the whole of the work, which began first. Of calls
 * that one batch released together the last to arrive is answered last. */
static bool is_better(const struct node *node, const struct node *child, const struct node *best)
{
	if (!best || child->span->end_ns != best->span->end_ns) {
		return !best || child->span->end_ns > best->span->end_ns;
	}
	if (child->kind != best->kind) {
		return child->kind < best->kind;
	}
	return node->kind == KIND_CALL ? child->span->start_ns > best->span->start_ns
				       : child->span->start_ns < best->span->start_ns;
}

/* Which span below is looked for. */
enum match {
	MATCH_SHARED, /* ends at the cursor, whoever began it */
	MATCH_OWN,    /* of the same number, ends at the cursor */
	MATCH_EARLIER /* of the same number, the latest that ends before the cursor */
};

static bool matches(const struct node *node, const struct sl_span *span, enum match match, int64_t cursor_ns)
{
	if (match == MATCH_EARLIER ? span->end_ns >= cursor_ns : span->end_ns != cursor_ns) {
		return false;
	}
	return match == MATCH_SHARED ||
	       (span->op == node->span->op && span->start_ns >= node->span->start_ns);
}

static const struct node *find_child(const struct walk *walk, const struct node *node, enum match match,
				     int64_t lo_ns, int64_t cursor_ns)
{
	const struct rule *rule = &rules[node->kind];
	unsigned kinds = match == MATCH_SHARED ? rule->shared : rule->own;
	const struct node *best = NULL;

	for (uint32_t i = 0; i < walk->n; i++) {
		const struct node *child = &walk->nodes[i];
		const struct sl_span *span = child->span;
		bool has_length = span->end_ns > lo_ns && span->start_ns < span->end_ns;

		if ((kinds & BIT(child->kind)) && has_length && matches(node, span, match, cursor_ns) &&
		    is_better(node, child, best)) {
			best = child;
		}
	}
	return best;
}

/* Work in flight that the operation joined counts from when it began to wait for it: after its own work. */
static int64_t joined_at(const struct walk *walk, const struct node *node, const struct node *shared,
			 int64_t lo_ns)
{
	int64_t at_ns = shared->span->start_ns > lo_ns ? shared->span->start_ns : lo_ns;
	unsigned own = rules[node->kind].own;

	for (uint32_t i = 0; i < walk->n; i++) {
		const struct node *child = &walk->nodes[i];
		const struct sl_span *span = child->span;

		/* Of the same number but inside the shared work: that work's, not the operation's. */
		if ((own & BIT(child->kind)) && span->op == node->span->op &&
		    span->start_ns >= node->span->start_ns && span->end_ns < shared->span->end_ns &&
		    !(shared->span->op == span->op && span->start_ns >= shared->span->start_ns) &&
		    span->end_ns > at_ns) {
			at_ns = span->end_ns;
		}
	}
	return at_ns;
}

static void count_call(struct sl_path *path, const struct node *node)
{
	if (node->kind == KIND_ZFS) {
		path->reads += strcmp(node->span->name, "read") == 0;
		path->writes += strcmp(node->span->name, "write") == 0;
		path->commits += strcmp(node->span->name, "commit") == 0;
	}
}

static void walk_leaf(struct walk *walk, const struct node *node, enum kind parent, int64_t lo_ns,
		      int64_t hi_ns)
{
	enum sl_layer layer = rules[node->kind].self;
	int64_t busy_ns = node->span->busy_ns;

	if (node->kind == KIND_DISK) {
		layer = parent == KIND_LOG ? SL_LAYER_LOG_DISK : SL_LAYER_DATA_DISK;
		busy_ns = walk->serial[parent == KIND_LOG] ? busy_ns : hi_ns - lo_ns;
	} else if (node->kind == KIND_WORK) {
		const struct sl_span *job =
		    find_job(walk, KIND_GUEST_CPU, node->span->start_ns, node->span->end_ns, lo_ns, hi_ns);

		busy_ns = job ? job->busy_ns : busy_ns;
	}
	emit_shared(walk, layer, lo_ns, hi_ns, busy_ns);
}

/* Each step of the walk looks through all spans: with very much in flight all steps take seconds. */
static bool is_over(struct walk *walk)
{
	if (walk->rc == 0 && walk->stopped && walk->stopped()) {
		walk->rc = -EINTR;
	}
	return walk->rc < 0;
}

/* Accounts for the time of `node` from lo_ns to hi_ns, backwards. */
static void walk_node(struct walk *walk, const struct node *node, enum kind parent, int64_t lo_ns,
		      int64_t hi_ns)
{
	const struct rule *rule = &rules[node->kind];
	int64_t cursor_ns = hi_ns;

	count_call(walk->path, node);
	if (rule->own == 0) {
		walk_leaf(walk, node, parent, lo_ns, hi_ns);
		return;
	}
	while (cursor_ns > lo_ns && !is_over(walk)) {
		const struct node *child = NULL;
		bool at_end = cursor_ns == hi_ns && cursor_ns == node->span->end_ns;
		int64_t from_ns;

		if (at_end) {
			child = find_child(walk, node, MATCH_SHARED, lo_ns, cursor_ns);
		}
		if (child) {
			from_ns = joined_at(walk, node, child, lo_ns);
		} else {
			child = find_child(walk, node, MATCH_OWN, lo_ns, cursor_ns);
			child = child ? child : find_child(walk, node, MATCH_EARLIER, lo_ns, cursor_ns);
			if (!child) {
				emit_gap(walk, node, lo_ns, cursor_ns);
				return;
			}
			from_ns = child->span->start_ns > lo_ns ? child->span->start_ns : lo_ns;
		}
		emit_gap(walk, node, child->span->end_ns, cursor_ns);
		walk_node(walk, child, node->kind, from_ns, child->span->end_ns);
		cursor_ns = from_ns;
	}
}

/* The spans that matter, and the operation's own. */
static int collect(struct walk *walk, const struct sl_trace *trace, uint64_t op, struct node *ret_root)
{
	uint32_t count = sl_trace_count(trace);
	int64_t from_ns, until_ns;

	ret_root->span = NULL;
	for (uint32_t i = 0; i < count && !ret_root->span; i++) {
		const struct sl_span *span = sl_trace_get(trace, i);

		if (span->op == op && strcmp(span->layer, rules[KIND_GUEST].layer) == 0) {
			*ret_root = (struct node){KIND_GUEST, span};
		}
	}
	if (!ret_root->span) {
		return -ENOENT;
	}
	from_ns = ret_root->span->start_ns;
	until_ns = ret_root->span->end_ns;
	walk->nodes = calloc((size_t)count + 1, sizeof(*walk->nodes));
	if (!walk->nodes) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct sl_span *span = sl_trace_get(trace, i);
		enum kind kind;

		if (span->start_ns >= until_ns || span->end_ns <= from_ns || span->end_ns > until_ns) {
			continue;
		}
		kind = kind_of(span->layer);
		if (kind != KIND_NONE && kind != KIND_GUEST) {
			walk->nodes[walk->n++] = (struct node){kind, span};
		}
	}
	return 0;
}

/* Does the operation go into the pool without a hypervisor in between? */
static bool is_local(const struct walk *walk, uint64_t op)
{
	bool in_pool = false;

	for (uint32_t i = 0; i < walk->n; i++) {
		if (walk->nodes[i].span->op == op && walk->nodes[i].kind == KIND_CALL) {
			return false;
		}
		in_pool |= walk->nodes[i].span->op == op && walk->nodes[i].kind == KIND_ZFS;
	}
	return in_pool;
}

/* Do disks of this kind work on one request at a time, so that time before the last completion is waiting? */
static bool is_serial(const struct sl_dev_spec *specs, int n)
{
	return n > 0 && specs[0].kind == SL_DEV_HDD;
}

static void reverse(struct sl_path *path)
{
	for (int i = 0, k = path->n_segments - 1; i < k; i++, k--) {
		struct sl_segment segment = path->segments[i];

		path->segments[i] = path->segments[k];
		path->segments[k] = segment;
	}
}

int sl_path_find(const struct sl_trace *trace, uint64_t op, const struct sl_box *box, bool (*stopped)(void),
		 struct sl_path *ret)
{
	struct walk walk = {.path = ret,
			    .stopped = stopped,
			    .serial = {is_serial(box->data, box->n_data), is_serial(box->log, box->n_log)}};
	struct node root;
	int rc = collect(&walk, trace, op, &root);

	*ret = (struct sl_path){.op = op};
	if (rc < 0) {
		return rc;
	}
	ret->name = root.span->name;
	ret->start_ns = root.span->start_ns;
	ret->latency_ns = root.span->end_ns - root.span->start_ns;
	root.kind = is_local(&walk, op) ? KIND_LOCAL : KIND_GUEST;
	walk_node(&walk, &root, KIND_NONE, root.span->start_ns, root.span->end_ns);
	free(walk.nodes);
	if (walk.rc < 0) {
		sl_path_fini(ret);
		return walk.rc;
	}
	reverse(ret);
	return 0;
}

int sl_path_of_disk(int64_t latency_ns, struct sl_path *ret)
{
	struct sl_segment *whole = calloc(1, sizeof(*whole));

	if (!whole) {
		return -ENOMEM;
	}
	*whole = (struct sl_segment){.layer = SL_LAYER_DATA_DISK, .end_ns = latency_ns};
	*ret = (struct sl_path){
	    .name = "write", .latency_ns = latency_ns, .n_segments = 1, .room = 1, .segments = whole};
	ret->service_ns[SL_LAYER_DATA_DISK] = latency_ns;
	return 0;
}

void sl_path_fini(struct sl_path *path)
{
	free(path->segments);
	path->segments = NULL;
	path->n_segments = path->room = 0;
}
