import Database

/// The email to the first user of a campaign's draft, and the name of the pool's own sender.
public typealias CampaignPreview = (recipient: String, sender: String?, mail: WrittenMail)

extension BulkRemovals {
  /// Writes the email of a draft, with ellipses in its links; nil if no user gets one.
  public func preview(
    _ terms: CampaignTerms, of draft: BulkJob, in pool: Pool
  ) async throws -> CampaignPreview? {
    let first = try await items(of: draft, isOpen: true, limit: 1).items.first?.account
    return try await store.read { now, connection in
      guard let first, let email = try AccountRecord.find(pool, first, connection)?.email else {
        return nil
      }
      let mail = EnrollmentLinkMail(
        pool: pool, email: email, link: store.links.link("…", to: .enrollment),
        reportLink: store.links.link("…", to: .reportedChange),
        cause: .campaign(sentence: terms.sentence, until: terms.end(from: now)))
      let sender = try PoolEmailSettings.read(pool, connection).sender(of: .enrollmentLink)
      return (email, sender.name, store.outbox.written(.enrollmentLink(mail)))
    }
  }
}
