import Localization

enum SessionText {
  static func ended(_ count: Int) -> Message {
    count == 0
      ? Message("There were no active sessions.")
      : Message(
        one: "{count} session ended.", other: "{count} sessions ended.", ["count": .number(count)])
  }

  /// Returns how many sessions will end; `none` is the sentence for no active sessions.
  static func ending(
    _ count: Int, none: Message = Message("There are no active sessions.")
  ) -> Message {
    count == 0
      ? none
      : Message(
        one: """
          {count} session ends immediately. ID tokens already issued to applications can stay valid \
          for up to an hour.
          """,
        other: """
          {count} sessions end immediately. ID tokens already issued to applications can stay valid \
          for up to an hour.
          """, ["count": .number(count)])
  }
}
