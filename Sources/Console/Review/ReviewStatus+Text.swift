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

  private static let neverChip = Chip.look(Message("review.state-never"))
  private static let changedChip = Chip.look(Message("review.state-changed"))
  private static let overdueChip = Chip.bad(Message("review.state-overdue"))
  private static let currentChip = Chip.on(Message("review.state-current"))
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
    guard let signOff else { return Message("review.never-signed-off") }
    let reviewer = Message.Value.name(Formatted.short(signOff.reviewerName))
    let (at, due) = (times.value(signOff.signedAt), Times.value(signOff.dueOn))
    return switch state {
    case .never: Message("review.never-signed-off")
    case .changed(isOverdue: true):
      Message("review.changed-and-overdue", ["reviewer": reviewer, "at": at, "due": due])
    case .changed(isOverdue: false):
      Message("review.changed-since-sign-off", ["reviewer": reviewer, "at": at, "due": due])
    case .overdue:
      Message("review.sign-off-overdue", ["reviewer": reviewer, "at": at, "due": due])
    case .current: Message("review.signed-off", ["reviewer": reviewer, "at": at, "due": due])
    }
  }
}

struct SignOffSection: ViewModel {
  let scope: Scope
  let review: ReviewSummary
  /// Whether the administrator can sign off and download evidence.
  let maySign: Bool
  /// The key that signs evidence; nil before its first use.
  let key: EvidenceKey?
  let times: Times

  private var status: ReviewStatus { review.status }
  private var path: String { scope.project.text }
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
      PolicyDifferences.sinceSignOff($0.review.changes, of: $0.scope.project)
    },
    .text("sign") { $0.maySign ? $0.form : nil },
    .text("evidence") { $0.maySign ? ConsolePaths.evidence($0.path) : nil },
    .text("evidenceFile") { $0.maySign ? ConsolePaths.evidenceFile($0.path) : nil },
    .text("comparison") { ConsolePaths.comparison.ofProject($0.path) },
    .text("fingerprint") { $0.key?.id },
  ]
}
