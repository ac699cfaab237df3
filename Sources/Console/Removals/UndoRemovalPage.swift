import HTTP
import Identity
import Localization
import Templating

/// `/bulk-removals/{number}/undo` and `S/bulk-removals/{number}/undo`: restores the factors of all
/// users of another administrator's bulk removal.
struct UndoRemovalPage: Sendable {
  let identity: Identity
  let ending: SupportRedirect
  let view: Template<UndoRemovalView>

  private var removals: BulkRemovals { identity.bulkRemovals }

  private static let title = Message("removals.undo-title")

  // MARK: - Across pools

  func show(_ signedIn: SignedIn, _ id: String) async throws(Refusal) -> Response {
    let subject = try await subject(signedIn, id)
    return try await ask(signedIn, subject, frame(signedIn, subject), ActionInput(), errors: [])
  }

  func perform(_ signedIn: SignedIn, _ id: String) async throws(Refusal) -> Response {
    let subject = try await subject(signedIn, id)
    let input = ActionInput(signedIn.form)
    do {
      let outcome = try await removals.undo(group: subject.id, input.request(signedIn))
      return done(outcome, signedIn, subject)
    } catch {
      let frame = frame(signedIn, subject)
      return try await answer(error, signedIn, subject, frame, input)
    }
  }

  private func subject(
    _ signedIn: SignedIn, _ id: String
  ) async throws(Refusal) -> UndoneRemoval {
    let group = try await removals.group(id, signedIn)
    return UndoneRemoval(
      id: group.id, requester: group.requester, users: group.users, parts: group.undoable,
      poolsWithCaller: group.parts.count { $0.undoable > 0 && $0.requiresCaller },
      page: ConsolePaths.removalGroup(id), action: ConsolePaths.undoOfRemovalGroup(id))
  }

  private func frame(_ signedIn: SignedIn, _ subject: UndoneRemoval) -> Frame {
    var frame = ending.frames.frame(Self.title, for: signedIn)
    frame.crumbs = Link.crumbsOfRemovalGroups + [subject.crumb]
    return frame
  }

  // MARK: - In a pool

  func show(_ context: ScopeContext, _ id: String) async throws(Refusal) -> Response {
    let subject = try await subject(context, id)
    return try await ask(
      context.signedIn, subject, try await frame(context, subject), ActionInput(), errors: [])
  }

  func perform(_ context: ScopeContext, _ id: String) async throws(Refusal) -> Response {
    let subject = try await subject(context, id)
    let input = ActionInput(context.signedIn.form)
    do {
      let outcome = try await removals.undo(
        subject.id, in: context.scope, input.request(context.signedIn))
      return done(outcome, context.signedIn, subject)
    } catch {
      let frame = try await frame(context, subject)
      return try await answer(error, context.signedIn, subject, frame, input)
    }
  }

  private func subject(
    _ context: ScopeContext, _ id: String
  ) async throws(Refusal) -> UndoneRemoval {
    let part = try await removals.part(id, context)
    return UndoneRemoval(
      id: part.job.id, requester: part.job.requester, users: part.job.users,
      parts: part.canUndo ? [part] : [],
      poolsWithCaller: part.undoable > 0 && part.requiresCaller ? 1 : 0,
      page: ConsolePaths.bulkRemoval(context.scope, id),
      action: ConsolePaths.undoOfBulkRemoval(context.scope, id))
  }

  private func frame(
    _ context: ScopeContext, _ subject: UndoneRemoval
  ) async throws(Refusal) -> Frame {
    var frame = try await ending.frames.frame(Self.title, in: context)
    frame.crumbs = Link.crumbsOfRemovals(context.scope) + [subject.crumb]
    return frame
  }

  // MARK: - Parts

  private func done(
    _ outcome: ActionOutcome<Int>, _ signedIn: SignedIn, _ subject: UndoneRemoval
  ) -> Response {
    ending.response(
      Flash(text: Message("removals.undo-started", ["count": .number(outcome.value)])), signedIn,
      renewed: outcome.renewed, to: subject.page)
  }

  private func answer(
    _ error: BulkError, _ signedIn: SignedIn, _ subject: UndoneRemoval, _ frame: Frame,
    _ input: ActionInput
  ) async throws(Refusal) -> Response {
    if case .nothingToDo = error {
      ending.frames.leave(Message("removals.nothing-to-undo"), for: signedIn)
      return .redirect(to: subject.page)
    }
    let faults = try BulkFaults.faults(error, users: subject.users, signedIn.times)
    return try await ask(signedIn, subject, frame, input, errors: faults)
  }

  private func ask(
    _ signedIn: SignedIn, _ subject: UndoneRemoval, _ frame: Frame, _ input: ActionInput,
    errors: [FieldError]
  ) async throws(Refusal) -> Response {
    let eligibility = try await removals.eligibility(signedIn, on: subject.parts).together
    let refusal =
      if subject.requester == signedIn.administrator.id {
        SupportRefusal(Message("removals.own-removal"))
      } else if subject.parts.isEmpty, subject.poolsWithCaller > 0 {
        SupportRefusal(
          Message("removals.undo-requires-callers", ["count": .number(subject.poolsWithCaller)]))
      } else if subject.parts.isEmpty {
        SupportRefusal(Message("removals.nothing-to-undo"))
      } else {
        SupportRefusal(eligibility, signedIn)
      }
    var frame = frame
    // Without a form, there's no field for the error summary to link to.
    frame.errors = refusal == nil ? errors : []
    let model = UndoRemovalView(
      frame: FrameView(frame), subject: subject, eligibility: eligibility, refusal: refusal,
      otherAdministrators: try await .find(
        identity.administrators, toUndo: subject.parts, startedBy: subject.requester,
        at: subject.action, insteadOf: signedIn, ending.frames),
      input: input, csrf: signedIn.session.csrfToken, carriesMail: identity.messages.carriesMail)
    return .html(view.render(model), status: frame.errors.isEmpty ? .ok : .unprocessableContent)
  }
}

/// A bulk removal, of one pool or across pools, and what of it can be undone.
struct UndoneRemoval: Sendable {
  let id: Int64
  let requester: ID<Administrator>
  /// The number of users to act on.
  let users: Int
  /// The parts that can be undone.
  let parts: [BulkGroup.Part]
  /// The number of pools in which users' removals can only be undone one at a time.
  let poolsWithCaller: Int
  /// The address of its page.
  let page: String
  /// The address of the form.
  let action: String

  var crumb: Link {
    Link(text: Message("removals.removal-number", ["id": .text(String(id))]), href: page)
  }
}

struct UndoRemovalView: ViewModel {
  let frame: FrameView
  let subject: UndoneRemoval
  let eligibility: SupportEligibility
  let refusal: SupportRefusal?
  let otherAdministrators: OtherAdministratorsView?
  let input: ActionInput
  let csrf: String
  let carriesMail: Bool

  private var users: Int { subject.parts.reduce(0) { $0 + $1.undoable } }

  private var consequences: [Message] {
    [
      Message("removals.factors-valid-again"),
      carriesMail ? Message("removals.users-notified") : Message("removals.users-not-notified"),
      Message("removals.changed-users-left-out"),
    ]
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("users") { BulkText.users($0.users) },
    .flag("hasUsers") { $0.users > 0 },
    .optional(\.refusal),
    .optional(\.otherAdministrators),
    .optional("form") { view -> SupportForm? in
      guard view.refusal == nil else { return nil }
      return SupportForm(
        frame: view.frame, eligibility: view.eligibility, answers: view.input,
        action: view.subject.action, reasons: [.found, .mistake, .other])
    },
    .text("action") { $0.subject.action },
    .text(\.csrf),
    .texts("consequences") { $0.consequences },
    .texts("pools") { view in
      view.subject.parts.map { part in
        Message(
          "removals.users-of-pool",
          [
            "pool": .name(ApprovalText.place(part.scope)),
            "users": .message(BulkText.users(part.undoable)),
          ])
      }
    },
    .text("button") { Message("removals.restore-for", ["count": .number($0.users)]) },
    .text("back") { $0.subject.page },
  ]
}

extension OtherAdministratorsView {
  /// Finds who can undo a bulk removal in place of the administrator who started it.
  ///
  /// - Parameters:
  ///   - administrators: The administrators.
  ///   - parts: The parts that can be undone at once.
  ///   - requester: The administrator who started the removal.
  ///   - path: The address of the undo.
  ///   - signedIn: The reader.
  ///   - frames: The frames, with the console's public URL.
  /// - Returns: Nil if the reader didn't start it, or nothing can be undone.
  /// - Throws: ``Refusal/unavailable`` if the database fails.
  static func find(
    _ administrators: Administrators, toUndo parts: [BulkGroup.Part],
    startedBy requester: ID<Administrator>, at path: String, insteadOf signedIn: SignedIn,
    _ frames: Frames
  ) async throws(Refusal) -> Self? {
    guard requester == signedIn.administrator.id, !parts.isEmpty else { return nil }
    return try await find(
      administrators, for: .undoBulkRemoval, in: parts.map(\.scope), of: signedIn.administrator,
      to: .undoBulkRemoval, link: frames.publicURL.origin + path)
  }
}
