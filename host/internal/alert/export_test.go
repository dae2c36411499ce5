package alert

// Kill ends the Manager as the death of the process would: nothing is written
// any more.
func (m *Manager) Kill() {
	close(m.quit)
	<-m.done
	m.cancel(errStopped)
}

// Kept returns how many threads and rows are in memory.
func (m *Manager) Kept() (threads, rows int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, th := range m.book.threads {
		rows += len(th.rows)
	}
	return len(m.book.threads), rows
}
