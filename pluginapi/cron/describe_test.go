package cron_test

import (
	"strings"
	"testing"
)

func TestDescribe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ expr, english, chinese string }{
		{"*/5 * * * * ?", "every 5 seconds", "每5秒"},
		{"5/15 * * * * ?", "every 15 seconds from second 5 on", "每15秒（从第5秒起）"},
		{"* * * * *", "every minute", "每分钟"},
		{"15 * * * * ?", "at second 15 of every minute", "每分钟 第15秒"},
		{"15 10 * * * ?", "at second 15 in minute 10 of every hour", "每小时 第10分 第15秒"},
		{"0 * * * *", "every hour", "每小时"},
		{"0 0 */2 * * ?", "every 2 hours", "每2小时"},
		{"0 30 */2 * * ?", "every 2 hours at minute 30", "每2小时 第30分"},
		{"0 */40 * * * ?", "every hour at minutes 0 and 40", "每小时 第0、40分"},
		{"0 5/15 * * * ?", "every 15 minutes from minute 5 on", "每15分钟（从第5分起）"},
		{"*/10 0-10 22-2 ? JUN SUN", "every 10 seconds in minutes 0 to 10 from 22:00 to 02:59 on Sunday in June", "每年6月周日 22:00至02:59 第0至10分 每10秒"},
		{"* 5 1,3,9 * * ?", "every second in minute 5 in hours 1, 3 and 9", "第1、3、9点 第5分 每秒"},
		{"@daily", "at 00:00 every day", "每天 00:00"},
		{"0,30 8,9 * * *", "at 08:00, 08:30, 09:00 and 09:30 every day", "每天 08:00、08:30、09:00、09:30"},
		{"7 30 9 * * ?", "at 09:30:07 every day", "每天 09:30:07"},
		{"0 0 9 * 6-8 ?", "at 09:00 every day in June to August", "每年6月至8月 09:00"},
		{"0 0 10 ? * MON-FRI", "at 10:00 on days from Monday to Friday", "周一至周五 10:00"},
		{"0 0 10 ? * MON,WED", "at 10:00 on Monday and Wednesday", "周一、周三 10:00"},
		{"0 0/15 9-17 ? * MON-FRI", "every 15 minutes from 09:00 to 17:59 on days from Monday to Friday", "周一至周五 09:00至17:59 每15分钟"},
		{"0 0 14-6 ? * FRI-MON", "every hour from 14:00 to 06:00 on days from Friday to Monday", "周五至周一 14:00至06:00 每小时"},
		{"0 0 2 ? * 6L", "at 02:00 on the last Friday of every month", "每月最后一个周五 02:00"},
		{"0 0 0 ? 2 5#5", "at 00:00 on the fifth Thursday of February", "每年2月第5个周四 00:00"},
		{"0 0 0 29 2 ?", "at 00:00 on 29 February", "每年2月29日 00:00"},
		{"0 0 0 1 NOV-FEB ?", "at 00:00 on the 1st of November to February", "每年11月至2月的1日 00:00"},
		{"0 0 12 1,2,3,11,12,22 * ?", "at 12:00 on the 1st to 3rd, 11th, 12th and 22nd of every month", "每月1日至3日、11日、12日、22日 12:00"},
		{"0 0 0 */10 * ?", "at 00:00 on the 1st, 11th, 21st and 31st of every month", "每月1日、11日、21日、31日 00:00"},
		{"0 0 0 */3 * ?", "at 00:00 on every 3rd day from the 1st to the 31st of every month", "每月从1日起每3天一次 00:00"},
		{"0 0 12 L * ?", "at 12:00 on the last day of every month", "每月最后一天 12:00"},
		{"0 0 12 L-1 * ?", "at 12:00 on the day before the last day of every month", "每月倒数第2天 12:00"},
		{"0 0 12 15W * ?", "at 12:00 on the weekday nearest to the 15th of every month", "每月离15日最近的非周末日 12:00"},
		{"0 0 12 LW * ?", "at 12:00 on the last weekday (Monday to Friday) of every month", "每月最后一个非周末日 12:00"},
		{"0 0 12 L-3W 1 ?", "at 12:00 on the weekday nearest to the 3rd day before the last day of January", "每年1月离倒数第4天最近的非周末日 12:00"},
		{"0 0 13 * 5", "at 00:00 on the 13th of every month or on Friday", "每月13日或周五 00:00"},
		{"0 0 */2 * 1", "at 00:00 on every 2nd day from the 1st to the 31st of every month that falls on Monday", "每月从1日起每2天一次，且为周一 00:00"},
		{"0 20 15 21 5 ? 2026", "at 15:20 on 21 May in 2026", "2026年 5月21日 15:20"},
		{"0 0 12 1 1 ? 2025-2027,2030", "at 12:00 on 1 January in 2025 to 2027 and 2030", "2025年至2027年、2030年 1月1日 12:00"},
		{"0 0 12 1 1 ? */2", "at 12:00 on 1 January in every 2nd year from 1970 to 2198", "1970年至2198年每2年 1月1日 12:00"},
	} {
		s := mustParse(t, c.expr, "UTC")
		if got := s.Describe("en"); got != c.english {
			t.Errorf("%q: %q, want %q", c.expr, got, c.english)
		}
		if got := s.Describe("zh"); got != c.chinese {
			t.Errorf("%q: %q, want %q", c.expr, got, c.chinese)
		}
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		expr string
		want []string // beginnings
	}{
		{"0 */40 * * * ?", []string{"minute */40: the step starts anew"}},
		{"*/7 * * * * ?", []string{"second */7:"}},
		{"CRON_TZ=UTC 0 9/5 */7 * *", []string{"hour 9/5:", "day of month */7:"}},
		{"0 0 0 1,30,31W * ?", []string{"day of month 30: months without a day 30 are left out", "day of month 31W:"}},
		{"0 */15 9-17/3 1-28/3 */4 ?", nil},
		{"0 0/1 * * * ? */7", nil},
		{"@daily", nil},
	} {
		got := mustParse(t, c.expr, "UTC").Warnings()
		if len(got) != len(c.want) {
			t.Errorf("%q: %q, want %q", c.expr, got, c.want)
			continue
		}
		for i, w := range c.want {
			if !strings.HasPrefix(got[i], w) {
				t.Errorf("%q: %q, want it to begin with %q", c.expr, got[i], w)
			}
		}
	}
}
