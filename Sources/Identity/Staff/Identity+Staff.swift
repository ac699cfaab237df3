extension Identity {
  public var authorization: ActionAuthorization { store.authorization }
  public var administrators: Administrators { Administrators(store: store, hasher: hasher) }
  public var invitations: Invitations {
    Invitations(store: store, administrators: administrators)
  }
  public var administratorFactors: AdministratorFactors {
    AdministratorFactors(
      store: store, totp: store.administratorTOTP, tickets: consoleTickets,
      administrators: administrators)
  }
  public var ownAccount: OwnAccount { OwnAccount(store: store, administrators: administrators) }
  public var passkeys: Passkeys {
    Passkeys(
      store: store, tickets: consoleTickets, totp: store.administratorTOTP,
      administrators: administrators, sessions: consoleSessions)
  }
  public var setup: Setup { Setup(store: store, administrators: administrators) }
}
