import Identity
import Localization
import Templating

enum ExemptionText {
  /// The reason with its details; the details alone where they say it all.
  static func reason(_ exemption: Exemption) -> Message {
    guard !exemption.note.isEmpty else { return exemption.reason.name }
    let note = Formatted.short(exemption.note, 120)
    guard exemption.reason != .other else { return .value(.name(note)) }
    return Message(
      "{reason}: {note}",
      ["reason": .message(exemption.reason.name), "note": .name(note)])
  }

  static func facts(_ exemption: Exemption, _ times: Times) -> [Fact] {
    [
      Fact(Message("Reason"), reason(exemption)),
      Fact(Message("Granted by"), HTML.isolated(exemption.grantorName)),
      Fact(Message("Granted on"), times.past(exemption.grantedAt)),
      Fact(Message("Ends"), times.end(exemption.endsAt)),
    ]
  }
}

/// The table of exemptions, first to end first.
struct ExemptionTable: ViewModel {
  let rows: [ExemptionRow]

  init(_ exemptions: [Exemption], _ times: Times) {
    rows = exemptions.map { ExemptionRow(exemption: $0, times: times) }
  }

  static let keys: Keys<Self> = [.list(\.rows)]
}

struct ExemptionRow: ViewModel {
  let exemption: Exemption
  let times: Times

  static let keys: Keys<Self> = [
    .text("href") { $0.exemption.userAddress },
    .text("name") { $0.exemption.label },
    .markup("enrolled") {
      $0.exemption.isEnrolled ? Chip.on(Message("enrolled")) : nil
    },
    .text("pool") { $0.exemption.poolName },
    .text("reason") { ExemptionText.reason($0.exemption) },
    .text("ticket") { $0.exemption.ticket.isEmpty ? nil : $0.exemption.ticket },
    .text("grantor") { $0.exemption.grantorName },
    .markup("ends") { $0.times.end($0.exemption.endsAt) },
  ]
}

extension Exemption {
  var userAddress: String { ConsolePaths.user(project, tenant, account.text) }
}
