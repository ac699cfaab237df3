import Localization

enum SessionText {
  static func ended(_ count: Int) -> Message {
    count == 0
      ? Message("users.no-sessions-ended")
      : Message("users.sessions-ended", ["count": .number(count)])
  }

  /// Returns how many sessions will end; `none` is the sentence for no active sessions.
  static func ending(
    _ count: Int, none: Message = Message("users.no-sessions-to-end")
  ) -> Message {
    count == 0 ? none : Message("users.sessions-end", ["count": .number(count)])
  }
}
