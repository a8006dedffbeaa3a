"""The readers-writer lock: many share it, or one has it alone."""

from threading import Event, Thread

from cascada.store.read_write_lock import ReadWriteLock

PATIENCE = 60


def started(work):
    thread = Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_readers_share_it():
    lock, both = ReadWriteLock(), [Event(), Event()]

    def read(own, other):
        with lock.shared():
            own.set()
            assert other.wait(PATIENCE)

    threads = [started(lambda: read(*both)), started(lambda: read(*reversed(both)))]
    for thread in threads:
        thread.join(PATIENCE)
    assert all(event.is_set() for event in both)


def test_a_writer_waits_for_readers_and_readers_that_come_later_wait_for_it():
    lock, order = ReadWriteLock(), []

    def write():
        with lock.exclusive():
            order.append("writer")

    def read_later():
        with lock.shared():
            order.append("second reader")

    with lock.shared():
        writer = started(write)
        while not lock._exclusive:
            assert writer.is_alive()
        reader = started(read_later)
        reader.join(0.1)
        assert order == []
        order.append("first reader")
    writer.join(PATIENCE)
    reader.join(PATIENCE)
    assert order == ["first reader", "writer", "second reader"]
