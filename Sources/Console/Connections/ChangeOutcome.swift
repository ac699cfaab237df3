import Identity
import IdentityToolkitClient
import Localization
import MailText

/// Says how a change of a connected project went, and why.
struct ChangeOutcome {
  let intent: Intent
  let remote: RemoteProject
  /// The name of the factor that's to be removed; nil for another change, and if it's gone.
  let factor: String?

  private var server: Message.Value { .text(remote.server) }

  /// The class of its notice.
  var weight: String {
    switch intent.state {
    case .waiting, .sent, .done: "calm"
    case .refused, .lapsed: "warn"
    case .unknown: "danger"
    }
  }

  /// Whether the remote can't remove one factor and keep the others.
  var requiresAll: Bool {
    [.unknownFactor, .remote(.unknownFactor), .remote(.factorRefused)].contains(intent.cause)
  }

  var heading: Message {
    switch intent.state {
    case .waiting: Message("Asking {server} now", ["server": server])
    case .sent: Message("Waiting for {server} to confirm", ["server": server])
    case .done: done
    case .refused: Message("No changes made")
    case .unknown: ChangeText.unknown(intent.change, factor: factor, at: remote)
    case .lapsed: Message("Not sent, so no changes made")
    }
  }

  private var done: Message {
    switch intent.change {
    case .policy?: Message("Policy changed at {server}", ["server": server])
    case .factorsRemoved(nil, seen: _)?:
      Message("All factors removed at {server}", ["server": server])
    case .factorsRemoved?: Message("Factor removed at {server}", ["server": server])
    case .disabled(true, seen: _)?: Message("User disabled at {server}", ["server": server])
    case .disabled(false, seen: _)?: Message("User enabled at {server}", ["server": server])
    case .sessionsEnded?: Message("Sessions ended at {server}", ["server": server])
    case nil: Message("Changed at {server}", ["server": server])
    }
  }

  var sentences: [Message] {
    switch intent.state {
    case .waiting: []
    case .sent: [Message("Don’t request it again: it’s on its way.")]
    case .done: endsSessions ? [Self.tokens] : []
    case .refused, .lapsed: [cause]
    case .unknown:
      intent.cause == .unconfirmed ? [cause] : [cause, Message("It may have been made.")]
    }
  }

  private var endsSessions: Bool {
    switch intent.change {
    case .factorsRemoved?, .disabled(true, seen: _)?, .sessionsEnded?: true
    case .disabled(false, seen: _)?, .policy?, nil: false
    }
  }

  /// That sessions ended where another server has them.
  static let tokens = Message(
    "All sessions ended. ID tokens already issued to applications can stay valid for up to an hour."
  )

  private var cause: Message {
    switch intent.cause {
    case .factorEnrolled(let name)?:
      Message("The user enrolled another factor meanwhile: {factor}.", ["factor": .name(name)])
    case .factorGone(let name)?:
      Message("A factor was removed meanwhile: {factor}.", ["factor": .name(name)])
    case .isDisabled(true)?: Message("The user was disabled meanwhile.")
    case .isDisabled(false)?: Message("The user was enabled meanwhile.")
    case .sessionsEnded?: Message("The sessions were ended meanwhile.")
    case .policyChanged?:
      Message("The policy was changed at {server} meanwhile.", ["server": server])
    case .gone?:
      intent.account == nil
        ? Message("{server} doesn’t have this tenant anymore.", ["server": server])
        : Message("{server} doesn’t have this user anymore.", ["server": server])
    case .unknownFactor?: RemoteFault(.unknownFactor).message(at: remote)
    case .connection?:
      Message("The connection was paused, ended, or given another credential.")
    case .remote(let cause)?: RemoteFault(cause).message(at: remote)
    case .unconfirmed?:
      Message(
        "{server} answers, and doesn’t have the change. It may still make it.", ["server": server])
    case .restored?: Message("A backup of the database was restored meanwhile.")
    case .moved?: Message("The instance was moved to another database meanwhile.")
    case nil: Message("The server stopped before it sent the change.")
    }
  }
}
