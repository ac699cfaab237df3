import Identity

/// Leaves messages empty, since nothing that is measured reads them.
struct NoText: MailWriter {
  func language(for locale: String?) -> String { "en" }

  func write(_ content: MailContent, in language: String) -> WrittenMail {
    WrittenMail(subject: "", body: "", language: language)
  }
}
