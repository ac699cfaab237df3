import HTTP
import Identity
import Templating

struct RemovalView: ViewModel {
  let frame: FrameView
  let context: ScopeContext
  let removal: Removal
  let reason: String
  let note: String

  private var consequences: [String] {
    var lines = [
      SessionWords.ending(
        removal.sessionsEnded, none: "No session of this user is open; nothing else ends.")
    ]
    lines.append(
      removal.factorsLeft == 0
        ? "At the next sign-in the password alone lets this user in, until they enrol again."
        : "\(Words.count(removal.factorsLeft, "other factor stays", "other factors stay")) and will be asked for."
    )
    if let mail = FactorWords.mail(to: removal.account) { lines.append(mail) }
    lines.append("It cannot be undone. To have this factor again, the user enrols anew.")
    return lines
  }

  private var facts: [Fact] {
    let factor = removal.factor
    let kind = Fact("Kind", Words.sentence(factor.kind.name))
    let number = factor.phoneNumber.map { Fact("Number", HTML.isolated($0)) }
    return [Fact("Name", HTML.isolated(Words.short(factor.label))), kind]
      + [number].compactMap { $0 }
      + [
        Fact("Enrolled", frame.times.moment(removal.factor.enrolledAt)),
        Fact("Last used", removal.factor.lastUsedAt.map(frame.times.past) ?? AccountChips.never),
      ]
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .text("action") {
      ConsolePaths.removal(
        $0.context.scope, $0.removal.account.id.text, $0.removal.factor.id.text)
    },
    .text("keep") { ConsolePaths.user($0.context.scope, $0.removal.account.id.text) },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .text("factorName") { Words.short($0.removal.factor.label) },
    .text("userName") { Words.short($0.removal.account.label) },
    .texts("consequences") { $0.consequences },
    .list("reasons") { view in
      DeskReason.allCases.map { ReasonChoice(reason: $0, isChecked: $0.rawValue == view.reason) }
    },
    .text("reasonError") { $0.frame.error(at: "reason") },
    .text("note") { $0.note },
    .text("noteError") { $0.frame.error(at: "note") },
    .list("facts") { $0.facts },
  ]
}

struct ReasonChoice: ViewModel {
  let reason: DeskReason
  let isChecked: Bool

  static let keys: Keys<Self> = [
    // The first carries the field's own name, for the error summary to lead to.
    .text("id") { $0.reason == .lost ? "reason" : "reason-\($0.reason.rawValue)" },
    .text("value") { $0.reason.rawValue },
    .text("label") { $0.reason.name },
    .text("hint") { Words.sentence($0.reason.hint) + "." },
    .flag("isChecked") { $0.isChecked },
  ]
}
