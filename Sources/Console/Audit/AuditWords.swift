import Identity
import Templating

/// Audit rows in words.
enum AuditWords {
  /// What was done, as a person would say it; an action without words here reads as it is kept.
  static func action(_ row: AuditRow) -> String {
    switch row.action {
    case "policy.change": "MFA policy changed"
    case "project.create": "Project created"
    case "project.change": "Project changed"
    case "tenant.create": "Tenant created"
    case "tenant.change": "Tenant changed"
    case "tenant.delete": "Tenant deleted"
    case "account.create": "User created"
    case "account.sign-up": "User signed up"
    case "account.change": "User changed"
    case "account.import": "Users imported"
    case "account.delete": "User deleted"
    case "account.delete-all": "All users deleted"
    case "factor.enrol": "Factor enrolled"
    case "factor.withdraw": "Factor withdrawn by the user"
    case "factor.remove": "Factor removed"
    case "sessions.end": "Sessions ended"
    default: row.action.split(separator: ".").joined(separator: ": ")
    }
  }

  /// Who did it.
  ///
  /// Users act on themselves, and their uid would say nothing.
  static func who(_ row: AuditRow) -> String {
    row.actorKind == "user" && row.actorID == row.objectID ? "the user" : row.actorName
  }

  /// From what to what, in one line; empty when there is nothing to tell.
  static func change(_ row: AuditRow) -> String {
    changes(row).joined(separator: "; ")
  }

  /// From what to what, a line for each field.
  ///
  /// Rows keep both sides as “field: value; …”; where
  /// they do not match, they are told whole.
  static func changes(_ row: AuditRow) -> [String] {
    switch (row.from, row.to) {
    case (nil, nil): return []
    case (let from?, nil): return ["was " + from]
    case (nil, let to?): return [to]
    case (let from?, let to?):
      let pairs = zip(fields(from), fields(to))
      guard fields(from).count == fields(to).count,
        pairs.allSatisfy({ $0.name == $1.name && $0.name != nil })
      else { return ["\(from) → \(to)"] }
      return pairs.map { "\($0.name ?? "") \($0.value) → \($1.value)" }
    }
  }

  private static func fields(_ text: String) -> [(name: Substring?, value: Substring)] {
    text.split(separator: "; ").map { part in
      guard let colon = part.firstRange(of: ": ") else { return (nil, part) }
      return (part[..<colon.lowerBound], part[colon.upperBound...])
    }
  }

  /// Why, as far as it was said.
  static func reason(_ row: AuditRow) -> String {
    let reason = row.reason.map { RemovalReason(rawValue: $0)?.name ?? $0 }
    let note = (row.note?.isEmpty ?? true) ? nil : row.note
    return [reason, note].compactMap { $0 }.joined(separator: ": ")
  }
}

/// One line of a thing's history.
final class HistoryRow: ViewModel {
  let what: String
  let change: String
  let who: String
  let at: Markup
  let why: String

  init(_ row: AuditRow, _ times: Times) {
    what = AuditWords.action(row)
    change = AuditWords.change(row)
    who = AuditWords.who(row)
    at = times.moment(row.at)
    why = AuditWords.reason(row)
  }

  /// In the history of a policy the values matter, not that it was changed.
  init(policy row: AuditRow, _ times: Times) {
    what = Words.sentence(AuditWords.change(row))
    change = ""
    who = AuditWords.who(row)
    at = times.moment(row.at)
    why = AuditWords.reason(row)
  }

  static let keys: Keys<HistoryRow> = [
    .text("what") { $0.what },
    .text("change") { $0.change },
    .text("who") { $0.who },
    .markup("at") { $0.at },
    .text("why") { $0.why },
  ]
}
