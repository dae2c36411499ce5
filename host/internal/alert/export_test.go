package alert

import "context"

// Kill ends the Manager as the death of the process would: nothing is written
// any more.
func (m *Manager) Kill() {
	close(m.quit)
	m.unwatch()
	m.loops.Wait()
	m.cancel(errStopped)
}

// Watch looks once for slow runs and due times without a record.
func (m *Manager) Watch(ctx context.Context) error {
	w := watcher{m: m, told: map[string]bool{}, nodes: map[string]bool{}}
	return w.runOnce(ctx)
}

// Kept returns how many events wait in memory, and how many tasks are known to
// fail.
func (m *Manager) Kept() (loose, failing int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.loose), len(m.failing)
}

// LeaseTTL is how long the others wait for a host that says nothing.
const LeaseTTL = leaseTTL
