import HTTP
import Identity
import IdentityToolkitClient
import Localization
import MailText
import Templating

/// Says what a change of a connected project is, and how it went.
enum ChangeText {
  static func what(_ change: DirectoryChange?) -> Message {
    switch change {
    case .policy?: Message("Change MFA policy")
    case .factorsRemoved(nil, seen: _)?: Message("Remove all factors")
    case .factorsRemoved?: Message("Remove factor")
    case .disabled(true, seen: _)?: Message("Disable user")
    case .disabled(false, seen: _)?: Message("Enable user")
    case .sessionsEnded?: Message("End all sessions")
    case nil: Message("Change of a later version")
    }
  }

  static func name(_ id: Int64) -> Message {
    Message("Change {number}", ["number": .text(String(id))])
  }

  static func chip(_ state: Intent.State) -> Markup {
    switch state {
    case .waiting: Chip.next(Message("not sent yet"))
    case .sent: Chip.next(Message("requested"))
    case .done: Chip.on(Message("done"))
    case .refused: Chip.look(Message("refused"))
    case .unknown: Chip.bad(Message("unknown"))
    case .lapsed: Chip.look(Message("not sent"))
    }
  }

  /// Says that the remote didn't confirm a change; `factor` is the name of the one that's removed.
  static func unknown(
    _ change: DirectoryChange?, factor: String? = nil, at remote: RemoteProject
  ) -> Message {
    let server = Message.Value.text(remote.server)
    switch change {
    case .policy?:
      return Message("{server} didn’t confirm the change of the policy", ["server": server])
    case .factorsRemoved(nil, seen: _)?:
      return Message("{server} didn’t confirm the removal of all factors", ["server": server])
    case .factorsRemoved?:
      guard let factor else {
        return Message("{server} didn’t confirm the removal of the factor", ["server": server])
      }
      return Message(
        "{server} didn’t confirm the removal of {factor}",
        ["server": server, "factor": .name(Formatted.short(factor))])
    case .disabled(true, seen: _)?:
      return Message("{server} didn’t confirm that the user is disabled", ["server": server])
    case .disabled(false, seen: _)?:
      return Message("{server} didn’t confirm that the user is enabled", ["server": server])
    case .sessionsEnded?:
      return Message("{server} didn’t confirm the end of the sessions", ["server": server])
    case nil: return Message("{server} didn’t confirm the change", ["server": server])
    }
  }

  static func address(_ id: Int64, in pool: Pool) -> String {
    ConsolePaths.change(pool, String(id))
  }

  /// The notice on the page of what an open change is about.
  static func notice(_ intent: Intent, at remote: RemoteProject) -> Notice {
    let link = Link(text: name(intent.id), href: address(intent.id, in: intent.pool))
    guard intent.state == .unknown else {
      return Notice(
        Message(
          "A change is on its way to {server}: {change}.",
          ["server": .text(remote.server), "change": .message(what(intent.change))]), link: link)
    }
    var notice = Notice(
      Message("{outcome}.", ["outcome": .message(unknown(intent.change, at: remote))]), link: link)
    notice.severity = SeverityMark(.changeUnknown)
    return notice
  }
}

extension Identity {
  /// Waits for the outcome of a change that was just requested, and returns that its page follows.
  func ended<Value>(
    _ id: Int64, in pool: Pool, after outcome: ActionOutcome<Value>
  ) async -> FormEnd {
    await connections.settle(id)
    return FormEnd(nil, at: ChangeText.address(id, in: pool), after: outcome)
  }

  /// Returns the notice of the change of a user, or of the policy if it's nil, that's on its way or
  /// whose outcome is unknown; nil if there's none, and in a hosted pool.
  func changeNotice(of account: ID<Account>?, in pool: Pool) async throws -> Notice? {
    guard pool.kind != .hosted,
      let intent = try await connections.openChange(of: account, in: pool)
    else { return nil }
    return ChangeText.notice(intent, at: try await connections.find(pool.project).remote)
  }
}

extension ConsolePaths {
  /// The page of a change that the server of a connected project is asked for.
  static let change = PoolPath1("changes", nil)
}
