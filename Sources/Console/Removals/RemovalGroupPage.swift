import HTTP
import Identity
import Localization
import Templating
import Text

/// `/bulk-removals/{number}`: the preview of a bulk removal across user pools with the form to run
/// it; later its progress and the result for each user.
struct RemovalGroupPage: Sendable {
  let identity: Identity
  let ending: SupportRedirect
  let draft: Template<RemovalGroupDraftView>
  let view: Template<RemovalGroupView>

  private var removals: BulkRemovals { identity.bulkRemovals }

  func show(_ signedIn: SignedIn, _ id: String) async throws(Refusal) -> Response {
    let group = try await removals.group(id, signedIn)
    guard !group.isDraft, !group.parts.isEmpty else {
      return try await ask(
        signedIn, group, ActionInput(), number: "", chosen: Set(group.parts.map(\.job.id)),
        errors: [])
    }
    let users = try await users(of: group, signedIn)
    let model = RemovalGroupView(
      frame: frame(signedIn, group, users: group.users), group: group,
      users: users, reader: signedIn,
      undoByOthers: try await .find(
        identity.administrators, toUndo: group.undoable, startedBy: group.requester,
        at: ConsolePaths.undoOfRemovalGroup(id), insteadOf: signedIn, ending.frames))
    var response = Response.html(view.render(model))
    if group.isRunning { users.refresh.add(to: &response) }
    return response
  }

  /// Starts the removal in the chosen pools, or requests approval for it.
  func begin(_ signedIn: SignedIn, _ id: String) async throws(Refusal) -> Response {
    let group = try await removals.group(id, signedIn)
    let form = signedIn.form
    let answers = ActionInput(form)
    let number = form.trimmed("number")
    let chosen = Set(form.all("pool").compactMap { Int64($0.text) })
    let outcome: ActionOutcome<BulkGroup>
    do {
      outcome = try await removals.begin(
        group: group.id, only: chosen, number: number, answers.request(signedIn))
    } catch {
      let users = group.parts.filter { chosen.contains($0.job.id) }.users
      let faults = try BulkFaults.faults(error, users: users, signedIn.times)
      return try await ask(
        signedIn, group, answers, number: number, chosen: chosen, errors: faults)
    }
    return ending.response(
      Flash(text: Self.begun(outcome.value)), signedIn, renewed: outcome.renewed,
      to: ConsolePaths.removalGroup(id))
  }

  /// Returns for how many users the removal has started, and for how many it waits.
  private static func begun(_ group: BulkGroup) -> Message {
    let waiting = group.parts.filter { $0.job.state == .waiting }.users
    let started = group.users - waiting
    if waiting == 0 { return Message("removals.started", ["count": .number(started)]) }
    if started == 0 { return Message("removals.pending", ["count": .number(waiting)]) }
    return Message(
      "removals.started-and-pending",
      [
        "started": .message(BulkText.users(started)),
        "pending": .message(BulkText.users(waiting)),
      ])
  }

  /// Stops the running parts.
  func end(_ signedIn: SignedIn, _ id: String) async throws(Refusal) -> Response {
    let group = try await removals.group(id, signedIn)
    let outcome: (isStopped: Bool, pending: Int)
    do {
      outcome = try await removals.stop(group: group.id, signedIn.plainRequest)
    } catch {
      throw BulkFaults.refusal(try error.failure(of: .stopBulkRemoval))
    }
    let pending = Message.Value.number(outcome.pending)
    let text =
      switch (outcome.isStopped, outcome.pending > 0) {
      case (true, false): Message("removals.stopped")
      case (true, true): Message("removals.stopped-others-pending", ["count": pending])
      case (false, false): Message("removals.finished-before-stop")
      case (false, true): Message("removals.not-running-pending", ["count": pending])
      }
    ending.frames.leave(text, for: signedIn)
    return .redirect(to: ConsolePaths.removalGroup(id))
  }

  // MARK: - Parts

  private func frame(
    _ signedIn: SignedIn, _ group: BulkGroup, users: Int, errors: [FieldError] = []
  ) -> FrameView {
    let title = Message(
      "removals.title-of-one", ["count": .number(users), "id": .text(String(group.id))])
    var frame = ending.frames.frame(title, for: signedIn)
    frame.errors = errors
    frame.crumbs = Link.crumbsOfRemovalGroups
    return FrameView(frame)
  }

  private func ask(
    _ signedIn: SignedIn, _ group: BulkGroup, _ answers: ActionInput, number: String,
    chosen: Set<Int64>, errors: [FieldError]
  ) async throws(Refusal) -> Response {
    let parts = group.parts.filter { $0.job.users > 0 }
    let eligibility = try await removals.eligibility(signedIn, on: parts, only: chosen)
    var refusal =
      group.users == 0 ? nil : SupportRefusal(eligibility.form, signedIn)
    refusal?.carried = parts.map { HiddenField(name: "pool", value: String($0.job.id)) }
    // Without a form, there's no field for the error summary to link to.
    let errors = refusal == nil ? errors : []
    let model = RemovalGroupDraftView(
      frame: frame(signedIn, group, users: eligibility.users, errors: errors), group: group,
      users: try await users(of: group, signedIn), eligibility: eligibility, refusal: refusal,
      answers: answers, number: number, chosen: chosen,
      csrf: signedIn.session.csrfToken, carriesMail: identity.messages.carriesMail,
      signIn: try await refusing {
        try await identity.policies.signInWithoutFactor(in: eligibility.selected.map(\.scope))
      })
    return .html(draft.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }

  private func users(
    of group: BulkGroup, _ signedIn: SignedIn
  ) async throws(Refusal) -> GroupUsers {
    let refresh = RemovalRefresh(ConsolePaths.removalGroup(String(group.id)), signedIn.query)
    let page = try await refusing {
      try await removals.users(of: group, after: refresh.after, limit: refresh.size.rows)
    }
    return GroupUsers(group: group, page: page, refresh: refresh)
  }
}

extension Link {
  /// The breadcrumbs of the pages of one bulk removal across pools.
  static var crumbsOfRemovalGroups: [Link] {
    [
      Link(text: Message("common.users"), href: ConsolePaths.findUsers()),
      Link(text: Message("removals.bulk-removals"), href: ConsolePaths.removalGroups()),
    ]
  }
}

extension BulkRemovals {
  /// Finds the bulk removal across pools that an address names.
  func group(_ id: String, _ signedIn: SignedIn) async throws(Refusal) -> BulkGroup {
    guard let number = Int64(id) else { throw .notFound }
    do {
      return try await group(number, for: signedIn.administrator.id)
    } catch {
      throw BulkFaults.refusal(error)
    }
  }

  /// Returns what starting or undoing a bulk removal requires of the reader.
  func eligibility(
    _ signedIn: SignedIn, on parts: [BulkGroup.Part], only chosen: Set<Int64>? = nil
  ) async throws(Refusal) -> BulkGroupEligibility {
    do {
      return try await eligibility(signedIn.session, on: parts, only: chosen)
    } catch {
      throw BulkFaults.refusal(error)
    }
  }
}
