public import Identity
public import Localization

extension Capability {
  /// Why a pool doesn't offer it, on pages and in commands.
  public var refusal: Message {
    switch self {
    case .bookkeeping, .connection:
      Message("This project is hosted: its users are here, so there is no connection.")
    case .policyChanges:
      Message(
        """
        The connection of this project cannot change policies: replace its credential with one of \
        access level policy.
        """)
    case .userChanges:
      Message(
        """
        The connection of this project may only read: replace its credential with one of access \
        level support to change users.
        """)
    case .hostedUsers:
      Message("This project is connected: its users are changed at the server where they are.")
    case .secrets:
      Message("This project is connected: another server has the codes and secrets of its users.")
    case .hosting:
      Message("This project is connected: it is set up at the server where its users are.")
    }
  }
}
