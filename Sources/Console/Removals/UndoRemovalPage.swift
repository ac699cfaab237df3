import HTTP
import Identity
import Localization
import Templating

/// `S/bulk-removals/{number}/undo`: restores the factors of all users of another administrator's
/// bulk removal.
struct UndoRemovalPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<UndoRemovalView>

  private var removals: BulkRemovals { identity.bulkRemovals }

  func show(_ context: PoolContext, _ id: String) async throws -> Response {
    try await ask(context, try await removals.job(id, context), ActionInput(), errors: [])
  }

  func perform(_ context: PoolContext, _ id: String) async throws -> Response {
    let (job, signedIn) = (try await removals.job(id, context), context.signedIn)
    let page = ConsolePaths.bulkRemoval(context.pool, id)
    let input = ActionInput(signedIn.form)
    do {
      let outcome = try await removals.undo(job.id, in: context.pool, input.request(signedIn))
      return frames.leave(
        Flash(
          text: job.kind == .disabling
            ? Message(
              one: "{count} user is being enabled.", other: "{count} users are being enabled.",
              ["count": .number(outcome.value)])
            : Message(
              one: "The factors of {count} user are being restored.",
              other: "The factors of {count} users are being restored.",
              ["count": .number(outcome.value)])), signedIn,
        renewed: outcome.renewed, to: page)
    } catch BulkError.nothingToDo {
      return frames.leave(Self.nothing(job), for: signedIn, to: page)
    } catch let denial as ActionDenial {
      let permission = (job.kind.undo ?? .undoBulkRemoval).requirements.permission
      let faults = try BulkFaults.faults(denial, permission, users: job.users, signedIn.times)
      return try await ask(context, job, input, errors: faults)
    }
  }

  private func ask(
    _ context: PoolContext, _ job: BulkJob, _ input: ActionInput, errors: [FieldError]
  ) async throws -> Response {
    let pool = context.pool
    let progress = try await removals.progress(of: job, in: pool)
    let eligibility = try await removals.eligibility(
      context.signedIn.session, on: job, in: pool
    ).support
    let refusal = refusal(progress, eligibility, context)
    let id = Message.Value.text(String(job.id))
    let crumb = Link(
      text: job.kind == .disabling
        ? Message("Disabling #{id}", ["id": id]) : Message("Removal #{id}", ["id": id]),
      href: ConsolePaths.bulkRemoval(pool, String(job.id)))
    // Without a form, there's no field for the error summary to link to.
    let frame = try await frames.frame(
      UndoRemovalView.title(job), in: context, crumbs: Link.crumbsOfRemovals(pool) + [crumb],
      errors: refusal == nil ? errors : [])
    let model = UndoRemovalView(
      frame: FrameView(frame), context: context, progress: progress, eligibility: eligibility,
      refusal: refusal,
      otherAdministrators: try await .find(
        identity.administrators, toUndo: progress, in: context, frames),
      input: input, carriesMail: identity.messages.carriesMail)
    return .html(view.render(model), status: frame.errors.isEmpty ? .ok : .unprocessableContent)
  }

  private static func nothing(_ job: BulkJob) -> Message {
    job.kind == .disabling
      ? Message("No user of this list can be enabled at once.")
      : Message("No factors of this removal can be restored.")
  }

  private func refusal(
    _ progress: BulkProgress, _ eligibility: SupportEligibility, _ context: PoolContext
  ) -> Notice? {
    let signedIn = context.signedIn
    let permission = progress.job.kind.undo?.requirements.permission
    return if let permission, !context.may(permission) {
      Notice(permission.requirement)
    } else if progress.job.kind == .removal, progress.job.requester == signedIn.administrator.id {
      Notice(Message("You started this removal. Only another administrator can undo it."))
    } else if progress.undoable > 0, progress.requiresCaller {
      Notice(
        Message("This pool requires a verified caller. Undo the removal on each user’s page."))
    } else if !progress.canUndo {
      Notice(Self.nothing(progress.job))
    } else {
      Notice(eligibility, signedIn)
    }
  }
}

struct UndoRemovalView: ViewModel {
  let frame: FrameView
  let context: PoolContext
  let progress: BulkProgress
  let eligibility: SupportEligibility
  let refusal: Notice?
  let otherAdministrators: OtherAdministratorsView?
  let input: ActionInput
  let carriesMail: Bool

  /// The number of users whose factors can be restored at once.
  private var users: Int { progress.canUndo ? progress.undoable : 0 }

  private var action: String {
    ConsolePaths.undoOfBulkRemoval(context.pool, String(progress.job.id))
  }

  static func title(_ job: BulkJob) -> Message {
    job.kind == .disabling ? Message("Undo bulk disabling") : Message("Undo bulk removal")
  }

  private var enables: Bool { progress.job.kind == .disabling }

  private var heading: Message {
    guard users > 0 else { return Self.title(progress.job) }
    return enables
      ? Message(
        one: "Enable {count} user?", other: "Enable {count} users?", ["count": .number(users)])
      : Message(
        one: "Restore second factors for {count} user?",
        other: "Restore second factors for {count} users?", ["count": .number(users)])
  }

  private var consequences: [Message] {
    guard !enables else {
      return [
        Message("The users can sign in again with their existing password and second factors."),
        Message("Users whose account was changed since they were disabled stay disabled."),
      ]
    }
    return [
      Message("The removed factors are valid again."),
      carriesMail
        ? Message("Their sessions end, and each user is notified by email.")
        : Message("Their sessions end. Email isn’t set up. The users won’t be notified."),
      Message(
        "Users who enrolled a new factor keep it, and their removed factors aren’t restored."),
    ]
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("heading") { $0.heading },
    .flag("hasUsers") { $0.users > 0 },
    .optional(\.refusal),
    .optional(\.otherAdministrators),
    .optional("form") { view -> SupportForm? in
      guard view.refusal == nil else { return nil }
      return SupportForm(
        frame: view.frame, eligibility: view.eligibility, answers: view.input,
        action: view.action, reasons: ConsoleAction.undoBulkRemoval.reasons)
    },
    .text("action") { $0.action },
    .texts("consequences") { $0.consequences },
    .text("pool") { view in
      Message(
        "{pool}: {users}",
        [
          "pool": .name(ApprovalText.place(view.context.pool)),
          "users": .message(BulkText.users(view.users)),
        ])
    },
    .text("button") {
      $0.enables
        ? Message(
          one: "Enable {count} user", other: "Enable {count} users", ["count": .number($0.users)])
        : Message(
          one: "Restore factors for {count} user",
          other: "Restore factors for {count} users", ["count": .number($0.users)])
    },
    .text("backText") {
      $0.enables ? Message("Back to disabling") : Message("Back to removal")
    },
    .text("back") { ConsolePaths.bulkRemoval($0.context.pool, String($0.progress.job.id)) },
  ]
}

extension OtherAdministratorsView {
  /// Finds who can undo a bulk removal in place of the administrator who started it.
  ///
  /// - Returns: Nil if the reader didn't start it, or nothing can be undone.
  static func find(
    _ administrators: Administrators, toUndo progress: BulkProgress, in context: PoolContext,
    _ frames: Frames
  ) async throws -> Self? {
    let (job, administrator) = (progress.job, context.signedIn.administrator)
    guard job.kind == .removal, job.requester == administrator.id, progress.canUndo else {
      return nil
    }
    return try await find(
      administrators, for: .undoBulkRemoval, in: context.pool, of: administrator,
      to: .undoBulkRemoval,
      link: frames.publicURL.origin
        + ConsolePaths.undoOfBulkRemoval(context.pool, String(job.id)))
  }
}
