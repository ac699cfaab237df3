import Identity
import Localization
import Templating

final class HistoryRow: ViewModel {
  let what: Message
  let change: String
  let who: Message
  let at: Markup
  let why: String

  init(_ row: AuditRow, _ times: Times, _ catalog: Catalog) {
    let formatter = AuditFormatter(times, catalog)
    what = AuditText.action(row)
    change = formatter.change(row)
    who = AuditText.who(row)
    at = times.moment(row.at)
    why = formatter.reason(row)
  }

  /// Creates an entry for the history of a policy, which shows the values in place of the action.
  init(policy row: AuditRow, _ times: Times, _ catalog: Catalog) {
    let formatter = AuditFormatter(times, catalog)
    what = .verbatim(formatter.capitalizedChange(row))
    change = ""
    who = AuditText.who(row)
    at = times.moment(row.at)
    why = formatter.reason(row)
  }

  static let keys: Keys<HistoryRow> = [
    .text("what") { $0.what },
    .text("change") { $0.change },
    .text("who") { $0.who },
    .markup("at") { $0.at },
    .text("why") { $0.why },
  ]
}
