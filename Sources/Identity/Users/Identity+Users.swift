extension Identity {
  public var signIns: SignIns {
    SignIns(
      store: store, accounts: accounts, hasher: hasher, tickets: tickets, totp: totp,
      backupCodes: backupCodeStore)
  }
  public var enrollments: Enrollments {
    Enrollments(store: store, tickets: tickets, totp: totp, backupCodes: backupCodeStore)
  }
  public var enrollmentLinks: EnrollmentLinks {
    EnrollmentLinks(store: store, tickets: tickets, totp: totp, signIns: signIns)
  }
  public var sessions: Sessions { Sessions(store: store) }
  public var outOfBandCodes: OutOfBandCodes { OutOfBandCodes(store: store, accounts: accounts) }
  public var reportedChanges: ReportedChanges { ReportedChanges(store: store) }
  public var federation: Federation {
    Federation(
      store: store, signIns: signIns, providers: identityProviders, pending: pendingTokens)
  }
  public var customTokens: CustomTokens {
    CustomTokens(store: store, trustedTokenKeys: trustedTokenKeys)
  }
  public var imports: Imports { Imports(store: store, hasher: hasher, totp: totp) }
}
