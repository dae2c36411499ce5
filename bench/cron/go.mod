module github.com/axsched/ax/bench/cron

go 1.26.0

require (
	github.com/adhocore/gronx v1.20.4
	github.com/axsched/ax v0.0.0
	github.com/hashicorp/cronexpr v1.1.3
	github.com/netresearch/go-cron v0.9.1
	github.com/reugn/go-quartz v0.15.2
	github.com/robfig/cron/v3 v3.0.1
)

require github.com/stretchr/testify v1.12.1 // indirect

// The peers are here and not in the go.mod above, so that nobody who uses ax
// gets to see them.
replace github.com/axsched/ax => ../..
