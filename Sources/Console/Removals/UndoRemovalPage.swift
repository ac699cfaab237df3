import HTTP
import Identity
import Localization
import Templating

/// `/bulk-removals/{number}/undo`: restores the factors of all users of another administrator's bulk
/// removal.
struct UndoRemovalPage: Sendable {
  let identity: Identity
  let ending: SupportRedirect
  let view: Template<UndoRemovalView>

  private var removals: BulkRemovals { identity.bulkRemovals }

  func show(_ signedIn: SignedIn, _ id: String) async throws(Refusal) -> Response {
    try await ask(signedIn, id, ActionInput(), errors: [])
  }

  func perform(_ signedIn: SignedIn, _ id: String) async throws(Refusal) -> Response {
    let group = try await removals.group(id, signedIn)
    let input = ActionInput(signedIn.form)
    let page = ConsolePaths.removalGroup(id)
    let outcome: ActionOutcome<Int>
    do {
      outcome = try await removals.undo(group: group.id, input.request(signedIn))
    } catch {
      if case .nothingToDo = error {
        ending.frames.leave(Message("removals.nothing-to-undo"), for: signedIn)
        return .redirect(to: page)
      }
      let faults = try BulkFaults.faults(error, users: group.users, signedIn.times)
      return try await ask(signedIn, id, input, errors: faults)
    }
    return ending.response(
      Flash(text: Message("removals.undo-started", ["count": .number(outcome.value)])), signedIn,
      renewed: outcome.renewed, to: page)
  }

  private func ask(
    _ signedIn: SignedIn, _ id: String, _ input: ActionInput, errors: [FieldError]
  ) async throws(Refusal) -> Response {
    let group = try await removals.group(id, signedIn)
    let standing = try await removals.standing(signedIn, on: group.undoable)
    let refusal =
      if group.requester == signedIn.administrator.id {
        SupportRefusal(Message("removals.own-removal"))
      } else if group.undoable.isEmpty {
        SupportRefusal(Message("removals.nothing-to-undo"))
      } else {
        SupportRefusal(standing.form, signedIn.session)
      }
    var frame = ending.frames.frame(Message("removals.undo-title"), for: signedIn)
    frame.crumbs =
      Link.crumbsOfRemovalGroups + [
        Link(
          text: Message("removals.removal-number", ["id": .text(id)]),
          href: ConsolePaths.removalGroup(id))
      ]
    // Without a form, there's no field for the error summary to link to.
    frame.errors = refusal == nil ? errors : []
    let model = UndoRemovalView(
      frame: FrameView(frame), group: group, standing: standing, refusal: refusal, input: input,
      csrf: signedIn.session.csrfToken, carriesMail: identity.messages.carriesMail)
    return .html(view.render(model), status: frame.errors.isEmpty ? .ok : .unprocessableContent)
  }
}

struct UndoRemovalView: ViewModel {
  let frame: FrameView
  let group: BulkGroup
  let standing: BulkGroupStanding
  let refusal: SupportRefusal?
  let input: ActionInput
  let csrf: String
  let carriesMail: Bool

  private var users: Int { group.undoable.reduce(0) { $0 + $1.undoable } }

  private var consequences: [Message] {
    [
      Message("removals.factors-valid-again"),
      carriesMail ? Message("removals.users-notified") : Message("removals.users-not-notified"),
      Message("removals.changed-users-left-out"),
    ]
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("users") { BulkWords.users($0.users) },
    .flag("hasUsers") { $0.users > 0 },
    .optional(\.refusal),
    .optional("form") { view -> SupportForm? in
      guard view.refusal == nil else { return nil }
      return SupportForm(
        frame: view.frame, standing: view.standing.form, answers: view.input,
        reasons: [.found, .mistake, .other])
    },
    .text("action") { ConsolePaths.undoOfRemovalGroup(String($0.group.id)) },
    .text(\.csrf),
    .texts("consequences") { $0.consequences },
    .texts("pools") { view in
      view.group.undoable.map { part in
        Message(
          "removals.users-of-pool",
          [
            "pool": .name(ApprovalWords.place(part.scope)),
            "users": .message(BulkWords.users(part.undoable)),
          ])
      }
    },
    .text("button") { Message("removals.restore-for", ["count": .number($0.users)]) },
    .text("back") { ConsolePaths.removalGroup(String($0.group.id)) },
  ]
}
