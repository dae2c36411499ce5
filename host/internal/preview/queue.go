package preview

// event is the next due time of a task, in Unix microseconds.
type event struct {
	at   int64
	task int
}

func (e event) before(o event) bool { return e.at < o.at || e.at == o.at && e.task < o.task }

// queue is a binary heap of events, the earliest first. Events of one time are
// in the order of the tasks.
type queue []event

func (q *queue) push(at int64, task int) {
	*q = append(*q, event{at, task})
	list := *q
	for i := len(list) - 1; i > 0; {
		parent := (i - 1) / 2
		if !list[i].before(list[parent]) {
			return
		}
		list[i], list[parent] = list[parent], list[i]
		i = parent
	}
}

// replace puts a later time of the same task in the place of the first event.
func (q queue) replace(at int64) {
	q[0].at = at
	q.sink()
}

// pop drops the first event.
func (q *queue) pop() {
	last := len(*q) - 1
	(*q)[0] = (*q)[last]
	*q = (*q)[:last]
	q.sink()
}

func (q queue) sink() {
	for i := 0; ; {
		least := 2*i + 1
		if least >= len(q) {
			return
		}
		if right := least + 1; right < len(q) && q[right].before(q[least]) {
			least = right
		}
		if !q[least].before(q[i]) {
			return
		}
		q[i], q[least] = q[least], q[i]
		i = least
	}
}

// counter counts the due times of each task in a stretch of time.
type counter struct {
	start, end int64
	total      int
	counts     []int // by task
	touched    []int // tasks with a count
}

func newCounter(tasks int) counter { return counter{counts: make([]int, tasks), end: -1 << 63} }

func (c *counter) begin(start, length int64) { c.start, c.end = start, start+length }

func (c *counter) add(task int) {
	if c.counts[task] == 0 {
		c.touched = append(c.touched, task)
	}
	c.counts[task]++
	c.total++
}

func (c *counter) clear() {
	for _, task := range c.touched {
		c.counts[task] = 0
	}
	c.touched, c.total = c.touched[:0], 0
}
