import HTTP
import Identity
import Localization
import Templating

/// `/projects/{p}/review/sign-off`: signs off the MFA policies of a project and its tenants.
struct SignOffPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<SignOffView>

  /// The number of days until the next review that the form suggests.
  private static let suggestedInterval = 90
  /// The field with the policies that the review page showed, in the link to the form and in the form.
  static let seenField = "seen"

  func sign(_ context: ProjectContext) async throws -> Response {
    let (signedIn, project) = (context.signedIn, context.pool.project)
    do {
      let outcome = try await identity.reviews.signOff(
        project, seen: SeenPolicies(signedIn.form.trimmed("digest"))?.digest ?? "",
        after: Int64(signedIn.form.trimmed("last-sign-off")),
        dueOn: Day(signedIn.form.trimmed("due")), actions.request(signedIn))
      guard ReviewQueue.isIn(signedIn) else {
        return actions.leave(
          Self.result(outcome.value), signedIn, after: outcome,
          to: ConsolePaths.review(project.text))
      }
      // It's signed off, even if the next one can't be read.
      let next = try? await identity.reviews.next(
        after: project, visibleTo: signedIn.administrator)
      let text = Message(
        "{project}: {result}",
        [
          "project": .name(Formatted.short(context.pool.projectName)),
          "result": .message(Self.result(outcome.value)),
        ])
      return actions.leave(
        text, signedIn, after: outcome,
        to: next.map { ReviewQueue.address($0.project) } ?? ConsolePaths.reviews())
    } catch {
      let errors = try await actions.faults(error, .signOffReview, signedIn, Self.fault)
      return try await page(context, errors: errors)
    }
  }

  private static func result(_ submitted: SubmittedSignOff) -> Message {
    guard let later = submitted.later else {
      return Message(
        "Review signed off. The next one is due on {due}.",
        ["due": Times.value(submitted.signOff.dueOn)])
    }
    return Message(
      """
      You already signed off with this form. {reviewer} has signed off since. The next review is \
      due on {due}.
      """,
      [
        "reviewer": .name(Formatted.short(later.reviewerName)), "due": Times.value(later.dueOn),
      ])
  }

  private static func fault(_ error: ReviewError) throws -> FieldError {
    switch error {
    case .invalidDueDay:
      FieldError(
        field: "due",
        text: Message(
          one: "Enter a date within the next {count} day.",
          other: "Enter a date within the next {count} days.",
          ["count": .number(SignOff.longestInterval)]))
    case .noteTooLong:
      FieldError(
        field: "note",
        text: Message(
          one: "Use at most {count} character.",
          other: "Use at most {count} characters.", ["count": .number(ActionRequest.longestNote)]))
    case .changedMeanwhile:
      FieldError(
        field: "policies",
        text: Message(
          """
          A policy or tenant changed while you were reviewing. Review the changes below, then sign \
          off.
          """))
    }
  }

  func page(
    _ context: ProjectContext, errors: [FieldError] = []
  ) async throws -> Response {
    let pool = context.pool
    let form = context.signedIn.form
    // A form that was opened without the review page counts as that page once it's submitted.
    let reviewed =
      SeenPolicies(context.signedIn.query.trimmed(Self.seenField))
      ?? SeenPolicies(form.trimmed(Self.seenField)) ?? SeenPolicies(form.trimmed("digest"))
    let evidence = try await identity.reviews.evidence(
      of: pool.project, for: context.signedIn.administrator, since: reviewed)
    let frameView = FrameView(
      try await actions.frames.frame(
        Message("Sign off on review"), in: context,
        crumbs: [
          Link(text: Message("Policy review"), href: ConsolePaths.review(pool.project.text))
        ], errors: errors))
    let today = Day(evidence.at)
    let model = SignOffView(
      frame: frameView, pool: pool, evidence: evidence, reviewed: reviewed, today: today,
      isInQueue: ReviewQueue.isIn(context.signedIn),
      due: form["due"] == nil
        ? today.after(Self.suggestedInterval).description : form.trimmed("due"),
      note: form.trimmed("note"),
      fields: try await actions.fields(.signOffReview, context.signedIn, frameView))
    return .html(view.render(model), errors: errors)
  }
}

struct SignOffView: ViewModel {
  let frame: FrameView
  let pool: Pool
  let evidence: ReviewEvidence
  /// The policies that the review page showed; nil if the form was opened without it.
  let reviewed: SeenPolicies?
  let today: Day
  let isInQueue: Bool
  let due: String
  let note: String
  let fields: ActionFields

  private var enrolled: Message {
    let (users, enrolled) = evidence.pools.reduce((0, 0)) {
      ($0.0 + $1.summary.users, $0.1 + $1.summary.enrolledUsers)
    }
    return Message(
      one: "{enrolled} of {count} user", other: "{enrolled} of {count} users",
      ["enrolled": .number(enrolled), "count": .number(users)])
  }

  private var facts: [Fact] {
    [
      Fact(Message("Projects and tenants"), Message.value(.number(evidence.pools.count))),
      Fact(Message("Enrolled"), enrolled),
      Fact(Message("Exemptions"), Message.value(.number(evidence.exemptions.count))),
      Fact(
        Message("Last sign-off"),
        evidence.signOffs.first.map { frame.times.day($0.signedAt) }
          ?? Markup(escaping: Message("none"))),
      Fact(Message("Policy digest (SHA-256)"), Message.verbatim(evidence.digest)),
    ]
  }

  private var warning: Message? {
    if reviewed == nil {
      return Message(
        "You opened this form without viewing the policy review. View the policies, then sign off.")
    }
    return evidence.changesSincePage == nil || frame.error(at: "policies") != nil
      ? nil
      : Message(
        """
        A policy or tenant has changed since you opened the policy review. Review the changes \
        below, then sign off.
        """)
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("name") { $0.pool.projectName },
    .text("policiesError") { $0.frame.error(at: "policies") },
    .text("review") {
      $0.isInQueue
        ? ReviewQueue.address($0.pool.project) : ConsolePaths.review($0.pool.project.text)
    },
    .list("queue") { $0.isInQueue ? HiddenField.all(ReviewQueue.kept) : [] },
    .text("pools") {
      Message(
        one: "This confirms that you reviewed the policy of {count} user pool.",
        other: "This confirms that you reviewed the policies of all {count} user pools.",
        ["count": .number($0.evidence.pools.count)])
    },
    .text("action") { ConsolePaths.signOff($0.pool.project.text) },
    .text("warning") { $0.warning },
    .optional("changesSincePage") { view in
      view.evidence.changesSincePage.map {
        PolicyDifferences(
          changes: $0, project: view.pool.project,
          caption: Message("Changes since you opened the policy review"))
      }
    },
    .optional("changes") {
      PolicyDifferences.sinceSignOff($0.evidence.changes, of: $0.pool.project)
    },
    .text("digest") { $0.evidence.seen.text },
    .text("seen") { $0.reviewed?.text },
    .text("lastSignOff") { String($0.evidence.signOffs.first?.id ?? 0) },
    .text(\.due),
    .text("dueError") { $0.frame.error(at: "due") },
    .text("first") { $0.today.next.description },
    .text("last") { $0.today.after(SignOff.longestInterval).description },
    .text(\.note),
    .text("noteError") { $0.frame.error(at: "note") },
    .list("facts") { $0.facts },
    .object("authorization") { $0.fields },
  ]
}

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
  private static let changedAndOverdueChips: Markup =
    #"<span class="row">\#(changedChip)\#(overdueChip)</span>"#
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
  /// Whether the reader came to sign off one project after another.
  let isInQueue: Bool
  /// The next project in that queue.
  let skip: Link?
  let times: Times

  private var status: ReviewStatus { review.status }
  private var path: String { pool.project.text }
  /// The address of the form, with the policies that this page shows.
  private var form: String {
    var query = isInQueue ? ReviewQueue.kept : Form()
    query.add(SignOffPage.seenField, review.seen.text)
    return query.query(of: ConsolePaths.signOff(path))
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
    .optional(\.skip),
    .text("evidence") { $0.maySign ? ConsolePaths.evidence($0.path) : nil },
    .text("evidenceFile") { $0.maySign ? ConsolePaths.evidenceFile($0.path) : nil },
    .text("comparison") { ConsolePaths.comparison.ofProject($0.path) },
    .text("fingerprint") { $0.key?.id },
  ]
}

/// The way through the projects to sign off, which goes on to the next after each sign-off.
///
/// It's only in the addresses of the pages: what may be signed off is the same outside it.
enum ReviewQueue {
  private static let field = "queue"
  static let kept: Form = [field: "1"]

  static func isIn(_ signedIn: SignedIn) -> Bool {
    [signedIn.query, signedIn.form].contains { $0.trimmed(field) == "1" }
  }

  static func address(_ project: ID<Project>) -> String {
    kept.query(of: ConsolePaths.review(project.text))
  }

  /// The link that passes over a project; nil outside the queue, and if there's no other project.
  static func skip(
    _ project: ID<Project>, _ reviews: Reviews, _ signedIn: SignedIn
  ) async throws -> Link? {
    guard isIn(signedIn) else { return nil }
    return try await reviews.next(after: project, visibleTo: signedIn.administrator).map { next in
      Link(
        text: Message("Skip to {project}", ["project": .name(Formatted.short(next.name))]),
        href: address(next.project))
    }
  }
}
