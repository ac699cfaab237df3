import HTTP
import Identity
import Localization
import Templating

extension ReviewStatus.State {
  /// The state as a chip, or two if policies changed and the next review is overdue as well.
  var chips: Markup {
    switch self {
    case .never: Self.neverChip
    case .changed(isOverdue: false): Self.changedChip
    case .changed(isOverdue: true): Self.changedAndOverdueChips
    case .overdue: Self.overdueChip
    case .current: Self.currentChip
    }
  }

  private static let neverChip = Chip.look(Message("not reviewed"))
  private static let changedChip = Chip.look(Message("changed since review"))
  private static let overdueChip = Chip.bad(Message("overdue"))
  private static let currentChip = Chip.on(Message("reviewed"))
  private static let changedAndOverdueChips: Markup = {
    var html = HTML()
    html.raw("<span class=\"row\">")
    html.add(changedChip)
    html.add(overdueChip)
    html.raw("</span>")
    return html.markup
  }()
}

extension ReviewStatus {
  func sentence(_ times: Times) -> Message {
    guard let signOff else { return Message("This project’s policies have never been signed off.") }
    let reviewer = Message.Value.name(Formatted.short(signOff.reviewerName))
    let (at, due) = (times.value(signOff.signedAt), Times.value(signOff.dueOn))
    return switch state {
    case .never: Message("This project’s policies have never been signed off.")
    case .changed(isOverdue: true):
      Message(
        """
        Signed off by {reviewer} on {at}, but a policy or tenant has changed since then. The next \
        review was due on {due}.
        """, ["reviewer": reviewer, "at": at, "due": due])
    case .changed(isOverdue: false):
      Message(
        """
        Signed off by {reviewer} on {at}, but a policy or tenant has changed since then. The next \
        review is due on {due}.
        """, ["reviewer": reviewer, "at": at, "due": due])
    case .overdue:
      Message(
        "Signed off by {reviewer} on {at}. The next review was due on {due}.",
        ["reviewer": reviewer, "at": at, "due": due])
    case .current:
      Message(
        """
        Signed off by {reviewer} on {at}. The policies and tenants are still the same. The next \
        review is due on {due}.
        """, ["reviewer": reviewer, "at": at, "due": due])
    }
  }
}

struct SignOffSection: ViewModel {
  let pool: Pool
  let review: ReviewSummary
  /// Whether the administrator can sign off and download evidence.
  let maySign: Bool
  /// The key that signs evidence; nil before its first use.
  let key: EvidenceKey?
  let times: Times

  private var status: ReviewStatus { review.status }
  private var path: String { pool.project.text }
  /// The address of the form, with the policies that this page shows.
  private var form: String {
    ([SignOffPage.seenField: review.seen.text] as Form).query(of: ConsolePaths.signOff(path))
  }

  static let keys: Keys<Self> = [
    .markup("chip") { $0.status.state.chips },
    .markup("sentence") { $0.status.sentence($0.times) },
    .text("note") { section in
      section.status.signOff.flatMap { $0.note.isEmpty ? nil : Formatted.short($0.note, 300) }
    },
    .optional("changes") {
      PolicyDifferences.sinceSignOff($0.review.changes, of: $0.pool.project)
    },
    .text("sign") { $0.maySign ? $0.form : nil },
    .text("evidence") { $0.maySign ? ConsolePaths.evidence($0.path) : nil },
    .text("evidenceFile") { $0.maySign ? ConsolePaths.evidenceFile($0.path) : nil },
    .text("comparison") { ConsolePaths.comparison.ofProject($0.path) },
    .text("fingerprint") { $0.key?.id },
  ]
}
