import HTTP
import Identity
import Localization
import Templating

/// `/projects/{p}/review/sign-off`: signs off the MFA policies of a project and its tenants.
struct SignOffPage: Sendable {
  let identity: Identity
  let actions: ActionForms
  let view: Template<SignOffView>

  /// The number of days until the next review that the form suggests.
  private static let suggestedInterval = 90

  func show(_ context: ProjectContext) async throws(Refusal) -> Response {
    try await page(context)
  }

  func sign(_ context: ProjectContext) async throws(Refusal) -> Response {
    let (signedIn, project) = (context.signedIn, context.scope.project)
    do {
      let outcome = try await identity.reviews.signOff(
        project, seen: signedIn.form.trimmed("digest"), dueOn: Day(signedIn.form.trimmed("due")),
        actions.request(signedIn))
      return actions.leave(
        Message("review.signed", ["due": Times.value(outcome.value.dueOn)]), signedIn,
        after: outcome, to: ConsolePaths.review(project.text))
    } catch {
      let errors = try await actions.faults(error, .signOffReview, signedIn, Self.fault)
      return try await page(context, errors: errors)
    }
  }

  private static func fault(_ error: ReviewError) throws(Refusal) -> FieldError {
    switch error {
    case .invalidDueDay:
      FieldError(
        field: "due",
        text: Message("review.invalid-due-day", ["count": .number(SignOff.longestInterval)]))
    case .noteTooLong:
      FieldError(
        field: "note",
        text: Message("review.note-too-long", ["count": .number(ActionRequest.longestNote)]))
    case .changedMeanwhile:
      FieldError(field: "policies", text: Message("review.changed-meanwhile"))
    case .projectNotFound: throw .notFound
    case .unavailable: throw .unavailable(error)
    }
  }

  private func page(
    _ context: ProjectContext, errors: [FieldError] = []
  ) async throws(Refusal) -> Response {
    let scope = context.scope
    let evidence = try await refusing {
      try await identity.reviews.evidence(
        of: scope.project, for: context.signedIn.administrator)
    }
    var frame = try await actions.frames.frame(
      Message("review.sign-off-title"), in: context)
    frame.crumbs = [
      Link(text: Message("review.policy-review"), href: ConsolePaths.review(scope.project.text))
    ]
    frame.errors = errors
    let frameView = FrameView(frame)
    let form = context.signedIn.form
    let today = Day(evidence.at)
    let model = SignOffView(
      frame: frameView, scope: scope, evidence: evidence, today: today,
      due: form["due"] == nil
        ? today.after(Self.suggestedInterval).description : form.trimmed("due"),
      note: form.trimmed("note"), csrf: context.signedIn.session.csrfToken,
      fields: try await actions.fields(.signOffReview, context.signedIn, frameView))
    return .html(view.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }
}

struct SignOffView: ViewModel {
  let frame: FrameView
  let scope: Scope
  let evidence: ReviewEvidence
  let today: Day
  let due: String
  let note: String
  let csrf: String
  let fields: ActionFields

  private var enrolled: Message {
    let (users, enrolled) = evidence.pools.reduce((0, 0)) {
      ($0.0 + $1.summary.users, $0.1 + $1.summary.enrolledUsers)
    }
    return Message(
      "pools.enrolled-of-users",
      ["enrolled": .number(enrolled), "count": .number(users)])
  }

  private var facts: [Fact] {
    [
      Fact(Message("review.pools"), Message.value(.number(evidence.pools.count))),
      Fact(Message("common.enrolled"), enrolled),
      Fact(Message("common.exemptions"), Message.value(.number(evidence.exemptions.count))),
      Fact(
        Message("review.last-sign-off"),
        evidence.signOffs.first.map { frame.times.day($0.signedAt) }
          ?? Markup(escaping: Message("review.none-yet"))),
      Fact(Message("review.digest"), Message.verbatim(evidence.digest)),
    ]
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("name") { $0.scope.projectName },
    .text("policiesError") { $0.frame.error(at: "policies") },
    .text("review") { ConsolePaths.review($0.scope.project.text) },
    .text("pools") {
      Message("review.sign-off-covers", ["count": .number($0.evidence.pools.count)])
    },
    .text("action") { ConsolePaths.signOff($0.scope.project.text) },
    .text("digest") { $0.evidence.digest },
    .text(\.due),
    .text("dueError") { $0.frame.error(at: "due") },
    .text("first") { $0.today.next.description },
    .text("last") { $0.today.after(SignOff.longestInterval).description },
    .text(\.note),
    .text("noteError") { $0.frame.error(at: "note") },
    .list("facts") { $0.facts },
    .object("authorization") { $0.fields },
    .text(\.csrf),
  ]
}
