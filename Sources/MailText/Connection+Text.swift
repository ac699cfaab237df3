public import Identity
public import IdentityToolkitClient
public import Localization

// Pages and commands, which have different apostrophes, show these texts, so they have none.

extension ProjectConnection {
  /// Why it's paused or failing, and what to do about it; nil if it's neither.
  public var causeText: Message? { cause.map { $0.message(at: remote) } }
}

extension ConnectionCause {
  /// Returns a sentence that says why a connection is paused or failing, and what to do about it.
  public func message(at remote: RemoteProject) -> Message {
    switch self {
    case .administrator: Message("An administrator paused it. Resume it to read again.")
    case .restored: Message("The database was restored. Resume it if no other server reads it.")
    case .moved: Message("The instance was moved. Resume it if no former server reads it.")
    case .walk:
      Message(
        "{server} returned fewer users than expected. Keep them, or accept that they are gone.",
        ["server": .text(remote.server)])
    case .unreadableCredential:
      Message("The stored credential cannot be decrypted. Replace it.")
    case .remote(let cause): RemoteFault(cause).message(at: remote)
    }
  }
}

extension ConnectionError {
  /// Returns a sentence that says why a connection can't be made or changed, and what to do about it;
  /// `remote` is nil where failed checks are shown themselves.
  public func message(at remote: RemoteProject? = nil) -> Message {
    switch self {
    case .emulator: Message("The emulator profile connects no projects.")
    case .unchecked(let fault):
      remote.flatMap { fault?.message(at: $0) } ?? Message("Check the connection first.")
    case .connected(let project):
      Message("This project is already connected, as {project}.", ["project": .text(project.text)])
    case .notPurged: Message("Its former users are still being deleted. Try again in a minute.")
    case .formerID(let project):
      Message("It was connected as {project}. Omit the ID here.", ["project": .text(project.text)])
    case .otherProject: Message("The credential is for another project. Connect that one instead.")
    case .otherRoles: Message("The former roles were in another project. Connect without them.")
    case .paused: Message("The connection is paused. Resume it first.")
    case .otherWalk:
      Message("The users were read again, or someone else decided. Look at the connection again.")
    }
  }
}
