package preview_test

import (
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/preview"
)

func TestDescribe(t *testing.T) {
	t.Parallel()
	shanghai := time.FixedZone("", 8*3600)
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, shanghai)
	for name, c := range map[string]struct {
		schedule ax.Schedule
		en, zh   string
	}{
		"cron": {
			ax.Schedule{Cron: "0 0 10 ? * MON-FRI", Timezone: "Asia/Shanghai"},
			"at 10:00 on days from Monday to Friday (Asia/Shanghai)", "周一至周五 10:00（Asia/Shanghai）",
		},
		"cron that nobody checked": {ax.Schedule{Cron: "x", Timezone: "UTC"}, "x (UTC)", "x（UTC）"},
		"interval":                 {ax.Schedule{Every: 20 * time.Second, Timezone: "UTC"}, "every 20 seconds", "每20秒"},
		"one unit":                 {ax.Schedule{Every: time.Hour, Timezone: "UTC"}, "every hour", "每小时"},
		"uneven interval":          {ax.Schedule{Every: 90 * time.Minute, Timezone: "UTC"}, "every 90 minutes", "每90分钟"},
		"milliseconds":             {ax.Schedule{Every: 1500 * time.Millisecond, Timezone: "UTC"}, "every 1500 milliseconds", "每1500毫秒"},
		"anchored interval": {
			ax.Schedule{Every: 36 * time.Hour, Anchor: at, RepeatCount: new(9), Timezone: "Asia/Shanghai"},
			"every 36 hours (Asia/Shanghai); counted from 2026-03-02 12:00:00; 10 times in all",
			"每36小时（Asia/Shanghai）；从 2026-03-02 12:00:00 起算；共10次",
		},
		"delay":    {ax.Schedule{Delay: time.Minute, Timezone: "UTC"}, "1 minute after the end of each run", "每次执行结束后1分钟"},
		"one time": {ax.Schedule{At: at, Timezone: "UTC"}, "once, at 2026-03-02 04:00:00 (UTC)", "2026-03-02 04:00:00 一次（UTC）"},
		"trigger": {
			ax.Schedule{
				Trigger:   &ax.Use{Name: "lastweekday", With: []byte(`{"weekday":"FRI","time":"02:00","nth":-1}`)},
				Calendars: []string{"china"}, Timezone: "Asia/Shanghai",
			},
			"by the trigger lastweekday with nth -1, time 02:00, weekday FRI (Asia/Shanghai); with the calendar china",
			"由触发器 lastweekday 决定，设置为 nth -1, time 02:00, weekday FRI（Asia/Shanghai）；按日历 china",
		},
		"bare trigger": {ax.Schedule{Trigger: &ax.Use{Name: "a/b"}, Timezone: "UTC"}, "by the trigger a/b (UTC)", "由触发器 a/b 决定（UTC）"},
		"limits": {
			ax.Schedule{
				Cron: "0 2 * * *", Timezone: "UTC", From: at, Until: at.AddDate(1, 0, 0), Calendar: "cn", OnClosed: ax.ClosedSkip,
				Blackouts: []ax.Blackout{{From: 22 * time.Hour, To: 6 * time.Hour}}, Jitter: 30 * time.Second,
			},
			"at 02:00 every day (UTC); from 2026-03-02 04:00:00 on; until 2027-03-02 04:00:00; not on closed days of cn; except 22:00-06:00; put off by less than 30 seconds",
			"每天 02:00（UTC）；2026-03-02 04:00:00 开始；2027-03-02 04:00:00 为止；cn 休息日除外；22:00-06:00 除外；随机推迟不到30秒",
		},
		"moves": {
			ax.Schedule{
				Every: time.Hour, Timezone: "UTC", Calendar: "cn", OnClosed: ax.ClosedPrevious,
				Blackouts: []ax.Blackout{{From: 0, To: time.Hour}}, OnBlackout: ax.BlackoutAfter,
			},
			"every hour (UTC); on closed days of cn on the open day before; put off to the end of 00:00-01:00",
			"每小时（UTC）；遇 cn 休息日提前到前一个开放日；遇 00:00-01:00 推迟到其结束",
		},
		"blackouts": {
			ax.Schedule{Every: time.Hour, Timezone: "UTC", Blackouts: []ax.Blackout{
				{From: 22 * time.Hour, To: 6 * time.Hour, Weekdays: []time.Weekday{1, 5}},
				{To: 24 * time.Hour, Calendar: "year-end"},
				{To: 24 * time.Hour, Weekdays: []time.Weekday{0}, Calendar: "cn"},
				{To: 24 * time.Hour},
			}},
			"every hour (UTC); except 22:00-06:00 Mon,Fri, closed days of year-end, Sun closed days of cn, every day",
			"每小时（UTC）；周一、周五 22:00-06:00，year-end 休息日，周日 cn 休息日，每天 除外",
		},
		"moves on": {
			ax.Schedule{Every: time.Hour, Timezone: "UTC", Calendar: "cn", OnClosed: ax.ClosedNext},
			"every hour (UTC); on closed days of cn on the open day after", "每小时（UTC）；遇 cn 休息日顺延到下一个开放日",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			words := preview.Describe(&c.schedule, "task")
			if got := words.In("en"); got != c.en {
				t.Errorf("%q, want %q", got, c.en)
			}
			if got := words.In("zh"); got != c.zh {
				t.Errorf("%q, want %q", got, c.zh)
			}
		})
	}
}

// TestDescribeHash: an H is told by the value that the name of the task picks.
func TestDescribeHash(t *testing.T) {
	t.Parallel()
	s := ax.Schedule{Cron: "H H * * *", Timezone: "UTC"}
	if a, b := preview.Describe(&s, "a"), preview.Describe(&s, "b"); a == b {
		t.Errorf("both tasks are described as %q", a.En)
	}
}
