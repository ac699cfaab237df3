extension Identity {
  public var support: Support { Support(store: store) }
  public var guidance: PoolGuidance { PoolGuidance(store: store) }
  public var backupCodes: BackupCodes { BackupCodes(store: store, codes: backupCodeStore) }
  public var resynchronizations: Resynchronizations {
    Resynchronizations(store: store, totp: totp)
  }
  public var factorRemovals: FactorRemovals {
    FactorRemovals(store: store, removed: RemovedFactors(totp: totp))
  }
  public var approvals: Approvals { Approvals(store: store, factorRemovals: factorRemovals) }
  public var bulkRemovals: BulkRemovals {
    BulkRemovals(store: store, factorRemovals: factorRemovals, accounts: accounts)
  }
  public var dismissedAttention: DismissedAttention { DismissedAttention(store: store) }
  public var reports: Reports { Reports(store: store) }
  public var userData: UserData { UserData(store: store, audit: audit) }
}
